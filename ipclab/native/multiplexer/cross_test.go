package multiplexer

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/iotest"
)

var nodes = []string{"original", "optimized", "hybrid", "adaptive"}

// sizes are around every boundary of the nodes.
var sizes = []int{0, 1, 1023, 1024, 1025, 4096, 4097, 8192, 65536, 65537, 1 << 20, 1<<20 + 1, 3 << 20}

func named(node string, r io.Reader, w io.Writer) Node {
	return cell{node: node, threshold: DefaultThreshold}.make(r, w)
}

// TestCross has every node read what every node wrote, in several ways.
func TestCross(t *testing.T) {
	for _, writer := range nodes {
		var encoded bytes.Buffer
		n := named(writer, sink, &encoded)
		for i, size := range sizes {
			if err := n.WriteMessage(context.Background(), payload(size, i)); err != nil {
				t.Fatal(err)
			}
		}
		for _, reader := range nodes {
			plain := func(r io.Reader) io.Reader { return r }
			for _, way := range []func(io.Reader) io.Reader{plain, iotest.HalfReader, iotest.DataErrReader} {
				r := way(bytes.NewReader(encoded.Bytes()))
				i := 0
				for m, err := range named(reader, r, io.Discard).ReadMessages(context.Background()) {
					if err != nil || m.Stream != uint32(i+1) || !bytes.Equal(m.Data, payload(sizes[i], i)) {
						t.Fatalf("%s to %s, message %d: %v", writer, reader, i, err)
					}
					i++
				}
				if i != len(sizes) {
					t.Fatalf("%s to %s: %d messages", writer, reader, i)
				}
			}
		}
	}
}

// media makes the connections that nodes are tested over.
var media = map[string]func(t *testing.T) (io.ReadCloser, io.WriteCloser){
	"pipe": func(t *testing.T) (io.ReadCloser, io.WriteCloser) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	},
	"unix": func(t *testing.T) (io.ReadCloser, io.WriteCloser) {
		file, w, err := connection("unix")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		r, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	},
	"io": func(*testing.T) (io.ReadCloser, io.WriteCloser) { return io.Pipe() },
}

// TestInterleaved sends streams from several goroutines at once over every medium, between every two nodes.
func TestInterleaved(t *testing.T) {
	const streams, each = 8, 6
	for medium, connect := range media {
		for _, writer := range nodes {
			for _, reader := range nodes {
				t.Run(fmt.Sprintf("%s/%s-%s", medium, writer, reader), func(t *testing.T) {
					r, w := connect(t)
					n, sums := named(writer, sink, w), make(chan uint32, streams*each)
					var group sync.WaitGroup
					for i := range streams {
						group.Add(1)
						go func() {
							defer group.Done()
							for k := range each {
								data := payload(1+(i*each+k)*4001, i*each+k)
								sums <- crc32.ChecksumIEEE(data)
								if err := n.WriteMessage(context.Background(), data); err != nil {
									t.Error(err)
								}
							}
						}()
					}
					go func() {
						group.Wait()
						_ = n.Close()
					}()
					var got, sent []uint32
					for m, err := range named(reader, r, io.Discard).ReadMessages(context.Background()) {
						if err != nil {
							t.Fatal(err)
						}
						got = append(got, crc32.ChecksumIEEE(m.Data))
					}
					for range streams * each {
						sent = append(sent, <-sums)
					}
					slices.Sort(got)
					slices.Sort(sent)
					if !slices.Equal(got, sent) {
						t.Errorf("%d messages received are not the %d sent", len(got), len(sent))
					}
				})
			}
		}
	}
}
