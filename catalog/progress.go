package catalog

// Progress is how far a call has come, as whoever carries it out says.
type Progress struct {
	Done float64
	// Total is 0 where it is not known.
	Total   float64
	Message string
}

// follow hands what a tool tells of a call's progress on, without secrets and within
// bounds. Nil: nobody wants to know.
func (c *call) follow() func(Progress) {
	if c.progress == nil {
		return nil
	}
	return func(p Progress) {
		p.Message = plain(c.secrets.text(p.Message), maxTitle)
		c.progress(p)
	}
}
