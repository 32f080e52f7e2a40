// Package clock has the clock by which a holder counts its lease.
//
// It only ever rises, and runs on while the machine sleeps: a laptop that was closed for an hour does
// not believe that its lease has only begun.
package clock
