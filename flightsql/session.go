package flightsql

import (
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// session gives the session that a call sees. A client that never set anything has none of its own: it gets a passing one, with an empty id, made of
// the start-up configuration and the call's headers, so that calls alone use up nothing.
func (s *Server) session(ctx context.Context) (*session.Session, error) {
	found, err := s.existing(ctx)
	if found != nil || err != nil {
		return found, err
	}
	state, err := s.firstState(ctx)
	if err != nil {
		return nil, err
	}
	return session.New("", callerOf(ctx).principal.Name, state, s.config.Now()), nil
}

// existing gives the session that the caller's token, cookie or connection leads to, in this order; nil when there is none yet. A session that has expired
// is an error and no fresh one in silence: the client believes in settings that are gone. One that the client closed itself makes place for a fresh one.
func (s *Server) existing(ctx context.Context) (*session.Session, error) {
	c := callerOf(ctx)
	owner := c.principal.Name
	if c.token == "" && c.named != "" {
		if found, ok := s.config.Sessions.Get(c.named, owner); ok {
			return found, nil
		}
		if err := setHeader(ctx, "set-cookie", cookieFor("")); err != nil {
			return nil, err
		}
		return nil, fault.New(fault.Unauthenticated, "the session has ended; connect again")
	}
	key := s.bindingKey(c)
	if key == "" {
		return nil, nil
	}
	if found, ok := s.config.Sessions.Lookup(key, owner); ok {
		return found, nil
	}
	ended := s.config.Sessions.Ended(key, owner)
	switch {
	case c.token != "" && !strings.HasPrefix(c.token, s.instance):
		return nil, fault.New(fault.Unauthenticated, "the session is of another server or of an earlier start; log in again")
	case ended == session.Expired:
		return nil, fault.New(fault.Unauthenticated, "the session has ended; log in again")
	}
	return nil, nil
}

// bindingKey is what a session of the caller is bound to; empty: only its id leads to it.
func (s *Server) bindingKey(c *caller) string {
	switch {
	case c.token != "":
		return "token:" + c.token
	case c.conn != nil && (c.conn.local || s.config.Limits.RemoteByAddress):
		return c.conn.key
	}
	return ""
}

// scope is what a caller's prepared statements are counted under.
func (s *Server) scope(c *caller) string {
	switch {
	case c.token != "":
		return "token:" + c.token
	case c.named != "":
		return "session:" + c.named
	case c.conn != nil:
		return c.conn.key
	}
	return "principal:" + c.principal.Name
}

// newToken names a session that a token will lead to.
func (s *Server) newToken() string { return s.instance + rand.Text() }

// ownSession gives the session that a call's effect stays in, made now if need be. The client is told its cookie unless it came with one.
func (s *Server) ownSession(ctx context.Context) (*session.Session, error) {
	c := callerOf(ctx)
	own, err := s.existing(ctx)
	if err == nil && own == nil {
		own, err = s.makeSession(ctx, c)
	}
	if err != nil || c.named == own.ID() {
		return own, err
	}
	return own, setHeader(ctx, "set-cookie", cookieFor(own.ID()), sessionHeader, own.ID())
}

func (s *Server) makeSession(ctx context.Context, c *caller) (own *session.Session, err error) {
	first := func() (session.State, error) { return s.firstState(ctx) }
	if key := s.bindingKey(c); key != "" {
		own, err = s.config.Sessions.Bound(key, c.principal.Name, first)
		if err == nil && key == c.connKey() {
			c.conn.note(c.principal.Name)
		}
	} else {
		var state session.State
		if state, err = first(); err == nil {
			own, err = s.config.Sessions.Create(c.principal.Name, state)
		}
	}
	if errors.Is(err, session.ErrTooMany) {
		return nil, fault.New(fault.Exhausted, "there are too many sessions").Change("skua.session.max")
	}
	return own, err
}

func (c *caller) connKey() string {
	if c.conn == nil {
		return ""
	}
	return c.conn.key
}

// firstState is a fresh session's state: the start-up one, changed by the headers of the call. JDBC and ODBC turn the properties of their URLs into such
// headers; what is none of ours is somebody else's and ignored. A schema is taken at its word: if it does not exist, qualified names still work and
// others are not looked up elsewhere.
func (s *Server) firstState(ctx context.Context) (session.State, error) {
	state, err := s.config.Engine.NewState(s.config.Startup)
	if err != nil {
		return session.State{}, err
	}
	c := callerOf(ctx)
	fresh := session.New("", c.principal.Name, state, s.config.Now())
	catalog, schema := c.header("catalog"), c.header("schema")
	if schema == "" {
		schema = c.header("database")
	}
	if err := s.use(ctx, fresh, catalog, ""); err != nil {
		return session.State{}, err
	}
	if err := placeIn(fresh, schema); err != nil {
		return session.State{}, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.headers)) {
		if !strings.HasPrefix(name, "spark.") && !strings.HasPrefix(name, "skua.") {
			continue
		}
		if err := s.config.Engine.SetOption(fresh, canonicalKey(name), c.header(name)); err != nil {
			return session.State{}, fault.Wrap(err, "header %s", name)
		}
	}
	return fresh.State(), nil
}

// placeIn sets the current schema without a look at the catalog.
func placeIn(fresh *session.Session, schema string) error {
	if schema == "" {
		return nil
	}
	namespace, err := engine.ParseSchemaName(schema)
	if err != nil {
		namespace = []string{schema}
	}
	return fresh.Update(func(st session.State) (session.State, error) {
		st.Namespace = namespace
		return st, nil
	})
}

// header gives a header's first value.
func (c *caller) header(name string) string {
	if v := c.headers.Get(name); len(v) > 0 {
		return v[0]
	}
	return ""
}

// use changes catalog and schema of a session as far as they are given.
func (s *Server) use(ctx context.Context, target *session.Session, catalog, schema string) error {
	if catalog == "" && schema == "" {
		return nil
	}
	namespace, err := engine.ParseSchemaName(schema)
	if err != nil {
		return err
	}
	return s.config.Engine.Use(ctx, target, catalog, namespace, catalog != "", schema != "")
}

// canonicalKey gives an option's own spelling: headers come in lower case.
func canonicalKey(name string) string {
	if _, known := session.Lookup(name); known && session.Known(name) {
		for _, o := range session.Options() {
			if strings.EqualFold(o.Key, name) {
				return o.Key
			}
		}
	}
	return name
}
