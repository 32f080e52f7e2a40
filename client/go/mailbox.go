package tenure

import (
	"math"
	"sync"
	"time"
)

// mailbox is where goroutines leave what happened, for the one that decides. Unbounded by itself: each
// sender has at most a few messages under way. Safe for concurrent use.
type mailbox[Message any] struct {
	arrived chan struct{} // holds one token while there are messages

	mutex    sync.Mutex
	messages []Message
	closed   bool
}

func newMailbox[Message any]() *mailbox[Message] {
	return &mailbox[Message]{arrived: make(chan struct{}, 1)}
}

// put answers with false if the mailbox is closed.
func (m *mailbox[Message]) put(message Message) bool {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.closed {
		return false
	}
	m.messages = append(m.messages, message)
	select {
	case m.arrived <- struct{}{}:
	default:
	}
	return true
}

// take answers with what is there; nothing if nothing comes within the patience.
func (m *mailbox[Message]) take(patience time.Duration) []Message {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-m.arrived:
	case <-timer.C:
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	messages := m.messages
	m.messages = nil
	return messages
}

// close drops whatever comes later, and answers with what is there.
func (m *mailbox[Message]) close() []Message {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.closed = true
	return m.messages
}

// How long a call may take before that is said.
const callPatience = 10 * time.Second

// executor calls functions one after the other, on a goroutine that is there only while there are
// any. Safe for concurrent use.
type executor struct {
	self     goroutine
	slow     func() // called when a call takes longer than the patience; nil: nobody cares
	patience time.Duration

	mutex   sync.Mutex
	queue   []func()
	running bool
}

func (e *executor) run(call func()) { e.runIfRoom(math.MaxInt, call) }

// runIfRoom drops the call if waitingMax wait already.
func (e *executor) runIfRoom(waitingMax int, call func()) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if len(e.queue) >= waitingMax {
		return
	}
	e.queue = append(e.queue, call)
	if !e.running {
		e.running = true
		go e.work()
	}
}

func (e *executor) work() {
	finished := false
	e.self.enter()
	defer func() {
		if !finished { // a call has ended its goroutine, as t.FailNow does: the others go on
			go e.work()
		}
	}()
	for {
		e.mutex.Lock()
		if len(e.queue) == 0 {
			e.queue, e.running = nil, false
			e.self.leave()
			e.mutex.Unlock()
			finished = true
			return
		}
		call := e.queue[0]
		e.queue = e.queue[1:]
		e.mutex.Unlock()
		e.do(call)
	}
}

func (e *executor) do(call func()) {
	if e.slow != nil {
		defer time.AfterFunc(e.patience, e.slow).Stop()
	}
	call()
}
