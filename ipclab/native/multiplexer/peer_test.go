package multiplexer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// peerVariable is set to the cell in the environment of the receiving process.
const peerVariable = "IPCLAB_PEER"

// order asks the receiving process for messages numbered from First: Before ones, at which it is ready, and so many
// more. With Sums set they have no numbers, and it adds up the checksum of each.
type order struct{ First, Before, Messages, Sums uint64 }

// account is what the receiving process answers after the last message.
type account struct{ Allocations, Allocated, Sum, Compared uint64 }

// peer is the receiving process as its parent sees it: a cell's messages go there from one process to another.
type peer struct {
	cell
	node    Node
	command *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Reader
	said    bytes.Buffer // on stderr; whole once the process has ended
	*streams
}

// startPeer starts this binary as a receiver with the receiving end of the cell's medium, on the CPUs in the list.
func startPeer(c cell, cpus string) (*peer, error) {
	theirs, ours, err := connection(c.medium)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p := &peer{cell: c, node: c.make(sink, ours), command: exec.Command("/proc/self/exe", "-test.run", "^$")}
	p.command.Env = append(os.Environ(), peerVariable+"="+c.name, peerCPUs+"="+cpus)
	p.command.ExtraFiles = []*os.File{theirs}
	p.command.Stderr = &p.said
	p.streams = newStreams(p.node, c)
	answers, wrong := p.command.StdoutPipe()
	p.answers = bufio.NewReader(answers)
	p.orders, err = p.command.StdinPipe()
	if err = errors.Join(wrong, err); err == nil {
		err = p.command.Start()
	}
	if err != nil {
		return nil, errors.Join(err, p.node.Close())
	}
	return p, p.explained(p.verify(warm))
}

// explained ends the process at an error, and gives what it said of it.
func (p *peer) explained(err error) error {
	if err == nil {
		return nil
	}
	p.close()
	if said := strings.TrimSpace(p.said.String()); said != "" {
		return errors.New(said)
	}
	return err
}

// close ends the process and waits for it.
func (p *peer) close() {
	_ = p.orders.Close()
	_ = p.node.Close()
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
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

// order sends an order and the messages before it; the receiver has noted its memory when this returns.
func (p *peer) order(o order) error {
	if err := binary.Write(p.orders, binary.LittleEndian, o); err != nil {
		return err
	}
	if err := p.write(int(o.Before)); err != nil {
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

// run sends messages to the other process; the last counts when the other has it.
func (p *peer) run(before, n int, begin func()) error {
	err := p.order(order{First: p.number(), Before: uint64(before), Messages: uint64(n)})
	if err == nil {
		begin()
		err = p.write(n)
	}
	if err == nil {
		err = p.done()
	}
	return p.explained(err)
}

func (p *peer) other() (*otherEnd, error) {
	a, err := p.account()
	return &otherEnd{a, p.fairness()}, p.explained(err)
}

func (p *peer) prove() error { return p.explained(p.verify(leastLong)) }

// verify sends n messages that differ in every part and compares their checksums.
func (p *peer) verify(n int) error {
	if err := p.order(order{Messages: uint64(n), Sums: 1}); err != nil {
		return err
	}
	var sum uint64
	data := payload(p.size, 0)
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
