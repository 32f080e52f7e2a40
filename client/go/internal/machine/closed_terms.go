package machine

import "container/list"

// Maximum number of elections whose closed terms are kept. They refute late news, which comes within
// moments or never.
const closedTermsMax = 10_000

// closedTerms are the highest terms that removed seats had closed, of the elections whose seats were
// removed most recently.
type closedTerms struct {
	byElection map[string]*list.Element
	oldest     list.List // of closedTerm; the latest is last
}

type closedTerm struct {
	election string
	term     uint64
}

func newClosedTerms() *closedTerms {
	return &closedTerms{byElection: map[string]*list.Element{}}
}

func (c *closedTerms) of(election string) uint64 {
	if element := c.byElection[election]; element != nil {
		return element.Value.(closedTerm).term
	}
	return 0
}

// raise returns the highest closed term.
func (c *closedTerms) raise(election string, term uint64) uint64 {
	if element := c.byElection[election]; element != nil {
		term = max(term, element.Value.(closedTerm).term)
		c.oldest.Remove(element)
	}
	c.byElection[election] = c.oldest.PushBack(closedTerm{election, term})
	if c.oldest.Len() > closedTermsMax {
		oldest := c.oldest.Remove(c.oldest.Front()).(closedTerm)
		delete(c.byElection, oldest.election)
	}
	return term
}

func (c *closedTerms) clear() {
	clear(c.byElection)
	c.oldest.Init()
}
