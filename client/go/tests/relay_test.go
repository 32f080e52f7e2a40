package tests

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// relay sits between a client and a replica, and can hang: then nothing passes, and nothing breaks.
type relay struct {
	endpoint string
	open     atomic.Int32 // connections

	mutex   sync.Mutex
	flowing chan struct{} // closed unless it hangs
}

func startRelay(t testing.TB, to string) *relay {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	r := &relay{endpoint: listener.Addr().String(), flowing: make(chan struct{})}
	close(r.flowing)
	t.Cleanup(r.goOn)
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			r.open.Add(1)
			go r.pass(from, to)
		}
	}()
	return r
}

func (r *relay) hang() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.flowing = make(chan struct{})
}

func (r *relay) goOn() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	select {
	case <-r.flowing:
	default:
		close(r.flowing)
	}
}

func (r *relay) wait() {
	r.mutex.Lock()
	flowing := r.flowing
	r.mutex.Unlock()
	<-flowing
}

func (r *relay) pass(from net.Conn, to string) {
	defer from.Close()
	defer r.open.Add(-1)
	r.wait()
	onward, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	defer onward.Close()
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{from, onward}, {onward, from}} {
		go func(way [2]net.Conn) {
			_, _ = io.Copy(waiting{r, way[1]}, way[0])
			ended <- struct{}{}
		}(way)
	}
	<-ended
}

type waiting struct {
	relay *relay
	to    io.Writer
}

func (w waiting) Write(bytes []byte) (int, error) {
	w.relay.wait()
	return w.to.Write(bytes)
}
