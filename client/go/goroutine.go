package tenure

import (
	"bytes"
	"runtime"
	"strconv"
	"sync/atomic"
)

// goroutine remembers the goroutine that runs something, so that a function called from there can notice
// that it must not wait. The zero value is none. Safe for concurrent use.
type goroutine struct{ number atomic.Uint64 }

func (g *goroutine) enter()       { g.number.Store(thisGoroutine()) }
func (g *goroutine) leave()       { g.number.Store(0) }
func (g *goroutine) isThis() bool { return g.number.Load() != 0 && g.number.Load() == thisGoroutine() }

// thisGoroutine is 0 if it is unknown. Every stack begins with "goroutine 7 [running]:".
func thisGoroutine() uint64 {
	var stack [64]byte
	line := stack[:runtime.Stack(stack[:], false)]
	number, _, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("goroutine ")), []byte(" "))
	parsed, _ := strconv.ParseUint(string(number), 10, 64)
	return parsed
}
