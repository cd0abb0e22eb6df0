package resource

import "sync"

// Hold counts n bytes that outlive the statement, such as what a cache or a plan keeps, on the process's account until release is called. False: they
// would take the process over its limit, and nothing is counted.
func (s *Statement) Hold(n int64) (release func(), ok bool) {
	total := s.pool.used.Add(n)
	if limit := s.pool.config.Memory; limit > 0 && total > limit {
		s.pool.used.Add(-n)
		return func() {}, false
	}
	return sync.OnceFunc(func() { s.pool.used.Add(-n) }), true
}
