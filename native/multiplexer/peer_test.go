package multiplexer

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

const (
	peerVariable = "IPCLAB_PEER" // set to the cell in the environment of the receiving process
	peerDeadline = 120 * time.Second
)

// order asks the receiving process for so many messages; with Sums set it adds up the checksum of each.
type order struct {
	Messages uint64
	Sums     uint64
}

// account is what the receiving process answers after the last message.
type account struct{ Allocations, Allocated, Sum uint64 }

// peer is the receiving process as its parent sees it.
type peer struct {
	cell    cell
	node    Node
	command *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader
	timer   *time.Timer
}

// current is the receiving process of this benchmark's cell; it serves all its counts.
var current *peer

// peerOf gives the receiving process of a cell, started if need be.
func peerOf(c cell) (*peer, error) {
	if current != nil && current.cell == c {
		return current, nil
	}
	stopPeer()
	var err error
	if current, err = startPeer(c); err == nil {
		err = current.verify(warm)
	}
	if err != nil {
		stopPeer()
	}
	return current, err
}

// stopPeer ends the receiving process and waits for it.
func stopPeer() {
	if current == nil {
		return
	}
	current.timer.Stop()
	_ = current.orders.Close()
	_ = current.node.Close()
	_ = current.command.Process.Kill()
	_ = current.command.Wait()
	current = nil
}

// startPeer starts this binary as a receiver with the receiving end of the cell's medium.
func startPeer(c cell) (*peer, error) {
	theirs, ours, err := connection(c.medium)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	command := exec.Command("/proc/self/exe", "-test.run", "^$")
	command.Env = append(os.Environ(), peerVariable+"="+c.name)
	command.ExtraFiles = []*os.File{theirs}
	command.Stderr = os.Stderr
	orders, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	timer := time.AfterFunc(peerDeadline, func() { _ = command.Process.Kill() })
	return &peer{c, c.make(sink, ours), command, orders, bufio.NewReader(answers), timer}, nil
}

// connection makes a medium between two processes: the other's end, and ours to write to.
func connection(medium string) (*os.File, io.WriteCloser, error) {
	if medium == "pipe" {
		return os.Pipe()
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	file := os.NewFile(uintptr(pair[1]), "ours")
	defer file.Close()
	conn, err := net.FileConn(file)
	return os.NewFile(uintptr(pair[0]), "theirs"), conn, err
}

// order sends an order; the receiver has noted its memory when this returns.
func (p *peer) order(o order) error {
	if err := binary.Write(p.orders, binary.LittleEndian, o); err != nil {
		return err
	}
	_, err := p.answers.ReadByte()
	return err
}

// done waits until the receiver has the last message of the order.
func (p *peer) done() error {
	_, err := p.answers.ReadByte()
	return err
}

// account reads what the receiver counted.
func (p *peer) account() (a account, err error) {
	err = binary.Read(p.answers, binary.LittleEndian, &a)
	return a, err
}

// verify sends n messages that differ in every part and compares their checksums.
func (p *peer) verify(n int) error {
	if err := p.order(order{uint64(n), 1}); err != nil {
		return err
	}
	var sum uint64
	data := payload(p.cell.size, 0)
	for i := range n {
		vary(data, i)
		sum += uint64(crc32.ChecksumIEEE(data))
		if err := p.node.WriteMessage(context.Background(), data); err != nil {
			return err
		}
	}
	if err := p.done(); err != nil {
		return err
	}
	a, err := p.account()
	if err == nil && a.Sum != sum {
		err = fmt.Errorf("checksums of %d messages: %d received, %d sent", n, a.Sum, sum)
	}
	return err
}
