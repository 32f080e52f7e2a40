// Package clock has the clock that a holder counts its lease with.
//
// It never goes back or stops, not even while the machine sleeps: a laptop that was closed for an hour
// must not believe that its lease has just begun.
package clock
