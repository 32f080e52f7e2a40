package tenure

import (
	"math"
	"sync"
	"time"
)

// mailbox is where goroutines report what happened to the one that decides. It has no limit of its own:
// each sender has at most a few messages under way. Safe for concurrent use.
type mailbox[Message any] struct {
	arrived chan struct{} // holds one token while there are messages

	mutex    sync.Mutex
	messages []Message
	closed   bool
}

func newMailbox[Message any]() *mailbox[Message] {
	return &mailbox[Message]{arrived: make(chan struct{}, 1)}
}

// put returns false if the mailbox is closed.
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

// take returns all messages; none if none arrives within the patience.
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

// close drops all later messages, and returns those that are there.
func (m *mailbox[Message]) close() []Message {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.closed = true
	return m.messages
}

// How long a callback may take before that is reported.
const callPatience = 10 * time.Second

// executor calls functions one after another, on a goroutine that exists only while there are any. Safe
// for concurrent use.
type executor struct {
	self     goroutine
	slow     func() // called when a call takes longer than the patience; may be nil
	patience time.Duration

	mutex   sync.Mutex
	queue   []func()
	running bool
}

func (e *executor) run(call func()) { e.runIfRoom(math.MaxInt, call) }

// runIfRoom drops the call if waitingMax calls are already waiting.
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
		if !finished { // a call may end its goroutine, as t.FailNow does: continue with the others
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
