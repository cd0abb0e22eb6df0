package session

// given is a value as a client gave it, with the text that the session keeps of it.
type given struct {
	text  string
	value any
}

// Give notes that the text of a key was given as a value of another type: a bool, an int64, a float64 or a []string. What the session no longer has is forgotten.
func (s *Session) Give(key, text string, value any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state := s.State()
	for k, g := range s.given {
		if now, ok := state.Conf.Get(k); !ok || now != g.text {
			delete(s.given, k)
		}
	}
	if s.given == nil {
		s.given = map[string]given{}
	}
	s.given[key] = given{text, value}
}

// Given gives the value of a key as it was given, if the key still has that text.
func (s *Session) Given(key, text string) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.given[key]
	return g.value, ok && g.text == text
}
