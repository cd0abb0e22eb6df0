package flightsql

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/apache/arrow-go/v18/arrow/flight"
	pb "github.com/apache/arrow-go/v18/arrow/flight/gen/flight"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/engine"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/session"
)

// The two options that every session has.
const (
	catalogOption = "catalog"
	schemaOption  = "schema"
)

// SetSessionOptions sets or erases options, each on its own: one that is refused has an entry in the result and the others stay. The catalog comes before
// the schema, which lies in it.
func (s *Server) SetSessionOptions(ctx context.Context, req *flight.SetSessionOptionsRequest) (*flight.SetSessionOptionsResult, error) {
	own, err := s.ownSession(ctx)
	if err != nil {
		return nil, err
	}
	result := &flight.SetSessionOptionsResult{Errors: map[string]*flight.SetSessionOptionsResultError{}}
	for _, key := range slices.Sorted(maps.Keys(req.GetSessionOptions())) {
		if err := s.setOption(ctx, own, key, req.SessionOptions[key]); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			s.config.Log.Info("session option refused", "option", key, "error", err.Error())
			result.Errors[key] = &flight.SetSessionOptionsResultError{Value: optionError(key, err)}
		}
	}
	return result, nil
}

func (s *Server) setOption(ctx context.Context, own *session.Session, key string, value *flight.SessionOptionValue) error {
	text, erase, err := optionText(value)
	if err != nil {
		return err
	}
	if key == catalogOption || key == schemaOption {
		return s.setPlace(ctx, own, key, text, erase)
	}
	if !validName(key) {
		return fault.New(fault.NotFound, "there is no option %q", key)
	}
	if erase {
		return s.config.Engine.Unset(own, key)
	}
	if err := s.config.Engine.SetOption(own, key, text); err != nil {
		return err
	}
	noteGiven(own, key, value)
	return nil
}

// noteGiven keeps what type a client gave an option, so that it reads it back in the same. What has become another text since is told as text.
func noteGiven(own *session.Session, key string, value *flight.SessionOptionValue) {
	text, _ := own.State().Conf.Get(key)
	switch v := value.GetOptionValue().(type) {
	case *pb.SessionOptionValue_BoolValue:
		own.Give(key, text, v.BoolValue)
	case *pb.SessionOptionValue_Int64Value:
		own.Give(key, text, v.Int64Value)
	case *pb.SessionOptionValue_DoubleValue:
		own.Give(key, text, v.DoubleValue)
	case *pb.SessionOptionValue_StringListValue_:
		own.Give(key, text, v.StringListValue.GetValues())
	default:
		own.Give(key, text, text)
	}
}

// setPlace sets the current catalog or schema; erased they go back to what a fresh session has.
func (s *Server) setPlace(ctx context.Context, own *session.Session, key, text string, erase bool) error {
	if !erase && text == "" && key == catalogOption {
		return fault.New(fault.Invalid, "the catalog's name is empty")
	}
	if !erase && text != "" {
		if key == catalogOption {
			return s.use(ctx, own, text, "")
		}
		return s.use(ctx, own, "", text)
	}
	first, err := s.config.Engine.NewState(s.config.Startup)
	if err != nil {
		return err
	}
	return own.Update(func(st session.State) (session.State, error) {
		switch {
		case key == catalogOption:
			st.Catalog, st.Namespace = first.Catalog, first.Namespace
		case erase && st.Catalog == first.Catalog:
			st.Namespace = first.Namespace
		default:
			st.Namespace = nil
		}
		return st, nil
	})
}

// validName reports whether a client may name an option so: one of the table, or a dotted key without spaces, as Spark's are.
func validName(key string) bool {
	if _, known := session.Lookup(key); known {
		return session.Known(key)
	}
	return session.Known(key) && strings.Contains(key, ".") && !strings.ContainsFunc(key, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// optionError classifies a refused option.
func optionError(key string, err error) pb.SetSessionOptionsResult_ErrorValue {
	place := key == catalogOption || key == schemaOption
	switch kind := fault.KindOf(err); {
	case place && (kind == fault.NotFound || kind == fault.Invalid):
		return pb.SetSessionOptionsResult_INVALID_VALUE
	case kind == fault.NotFound, kind == fault.Invalid && !validName(key):
		return pb.SetSessionOptionsResult_INVALID_NAME
	case kind == fault.Invalid:
		return pb.SetSessionOptionsResult_INVALID_VALUE
	}
	return pb.SetSessionOptionsResult_ERROR
}

// optionText gives an option's value as the text that SET would take. No value erases.
func optionText(v *flight.SessionOptionValue) (text string, erase bool, err error) {
	switch value := v.GetOptionValue().(type) {
	case nil:
		return "", true, nil
	case *pb.SessionOptionValue_StringValue:
		return value.StringValue, false, nil
	case *pb.SessionOptionValue_BoolValue:
		return strconv.FormatBool(value.BoolValue), false, nil
	case *pb.SessionOptionValue_Int64Value:
		return strconv.FormatInt(value.Int64Value, 10), false, nil
	case *pb.SessionOptionValue_DoubleValue:
		return doubleText(value.DoubleValue), false, nil
	case *pb.SessionOptionValue_StringListValue_:
		return strings.Join(value.StringListValue.GetValues(), ","), false, nil
	}
	return "", false, fault.New(fault.Invalid, "the option's value has an unknown type")
}

// doubleText writes a whole number without exponent and point, so that it can stand for an integer.
func doubleText(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.FormatInt(int64(f), 10)
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// optionValue gives an option as it was given, where it was not masked and is no text.
func optionValue(of *session.Session, key, text string) any {
	shown := session.Redact(key, text)
	if v, ok := of.Given(key, text); ok && shown == text {
		return v
	}
	return shown
}

// GetSessionOptions gives catalog and schema, always, and what was set in the session, by whatever way. Secrets are masked.
func (s *Server) GetSessionOptions(ctx context.Context, _ *flight.GetSessionOptionsRequest) (*flight.GetSessionOptionsResult, error) {
	current, err := s.session(ctx)
	if err != nil {
		return nil, err
	}
	state := current.State()
	options := map[string]any{}
	for k, v := range state.Conf.All() {
		options[k] = optionValue(current, k, v)
	}
	options[catalogOption], options[schemaOption] = state.Catalog, engine.SchemaName(state.Namespace)
	values, err := flight.NewSessionOptionValues(options)
	if err != nil {
		return nil, fault.New(fault.Internal, "session options: %w", err)
	}
	return &flight.GetSessionOptionsResult{SessionOptions: values}, nil
}

// CloseSession ends the caller's session and its prepared statements. The second time there is none: NOT_FOUND, and none is made.
func (s *Server) CloseSession(ctx context.Context, _ *flight.CloseSessionRequest) (*flight.CloseSessionResult, error) {
	c := callerOf(ctx)
	var closed bool
	switch key := s.bindingKey(c); {
	case c.token == "" && c.named != "":
		closed = s.config.Sessions.Close(c.named, c.principal.Name)
	case key != "":
		closed = s.config.Sessions.CloseBound(key, c.principal.Name)
	}
	s.handles.drop(s.scope(c), c.connKey(), &c.principal)
	if !closed {
		return nil, status.Error(codes.NotFound, "there is no session to close")
	}
	if err := setHeader(ctx, "set-cookie", cookieFor("")); err != nil {
		return nil, err
	}
	return &flight.CloseSessionResult{Status: flight.CloseSessionResultClosed}, nil
}
