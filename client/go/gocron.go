package tenure

import "context"

// Gocron adapts this elector to gocron's Elector, for gocron.WithDistributedElector: of several
// schedulers, only the leader's runs jobs. Call Stand first, and Close when the scheduler has shut down.
//
// gocron asks before a job begins, and never again: a job must end within [Elector.Remaining], or ask
// again itself.
func (e *Elector) Gocron() GocronElector { return GocronElector{e} }

// GocronElector implements the one method of gocron's Elector.
type GocronElector struct{ elector *Elector }

// IsLeader is nil while this process leads, and ErrNotLeader while it does not, with the cause if there is
// trouble.
func (g GocronElector) IsLeader(context.Context) error {
	if !g.elector.IsLeader() {
		return withCause(ErrNotLeader, g.elector.Trouble())
	}
	return nil
}
