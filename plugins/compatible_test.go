package plugins_test

import (
	"context"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/skua-data/skua/catalogs"
	"github.com/skua-data/skua/fault"
	"github.com/skua-data/skua/plugins"
	"github.com/skua-data/skua/storage"
)

// frozen is the protocol as the first plugins speak it: the descriptors of its first catalog.proto, made once by `buf build` and never again.
type frozen struct {
	service protoreflect.ServiceDescriptor
}

func newFrozen(t *testing.T) frozen {
	t.Helper()
	raw, err := os.ReadFile("testdata/protocol-1-first.binpb")
	if err != nil {
		t.Fatal(err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		t.Fatal(err)
	}
	found, err := files.FindDescriptorByName("skua.catalog.v1.CatalogService")
	if err != nil {
		t.Fatal(err)
	}
	return frozen{found.(protoreflect.ServiceDescriptor)}
}

func (f frozen) method(name string) protoreflect.MethodDescriptor {
	return f.service.Methods().ByName(protoreflect.Name(name))
}

// message makes one of the old messages of its JSON.
func message(t *testing.T, d protoreflect.MessageDescriptor, json string) *dynamicpb.Message {
	t.Helper()
	m := dynamicpb.NewMessage(d)
	if err := protojson.Unmarshal([]byte(json), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// text is a message's JSON in one spelling, without the fields that it does not know.
func text(t *testing.T, m proto.Message) string {
	t.Helper()
	plain := dynamicpb.NewMessage(m.ProtoReflect().Descriptor())
	raw, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, plain); err != nil {
		t.Fatal(err)
	}
	out, err := protojson.Marshal(plain)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestAnOldHostUnderstandsANewPlugin: the first protocol's client asks today's service everything.
func TestAnOldHostUnderstandsANewPlugin(t *testing.T) {
	f := newFrozen(t)
	catalog := inMemory()
	catalog.capabilities.References, catalog.capabilities.Refresh = true, true
	load := catalog.load
	catalog.load = func(ctx context.Context, req catalogs.LoadRequest) (*catalogs.Table, error) {
		out, err := load(ctx, req)
		if out != nil {
			out.Locations, out.Format = storage.Map{{From: "a", To: "b"}}, "new"
			out.Files = &catalogs.Files{Schema: iceberg.NewSchema(0, iceberg.NestedField{ID: 1, Name: "id", Type: iceberg.PrimitiveTypes.Int64}), Location: "s3://b/t", Listed: true}
		}
		return out, err
	}
	connection, _ := plugin.TestPluginGRPCConn(t, false, map[string]plugin.Plugin{plugins.Name: &plugins.Plugin{Served: opening(catalog)}})
	t.Cleanup(func() { _ = connection.Close() })
	ask := func(method, request string) (answers []string) {
		t.Helper()
		d := f.method(method)
		stream, err := connection.Conn.NewStream(t.Context(), &grpc.StreamDesc{ServerStreams: true}, "/skua.catalog.v1.CatalogService/"+method)
		if err == nil {
			err = errors.Join(stream.SendMsg(message(t, d.Input(), request)), stream.CloseSend())
		}
		if err != nil {
			t.Fatal(err)
		}
		for {
			answer := dynamicpb.NewMessage(d.Output())
			if err := stream.RecvMsg(answer); errors.Is(err, io.EOF) {
				return answers
			} else if err != nil {
				t.Fatalf("%s: %v", method, err)
			}
			answers = append(answers, text(t, answer))
		}
	}
	for _, c := range []struct{ method, request, want string }{
		{"Open", `{"type": "fake", "name": "prod", "properties": {"a": "b"}, "locations": [{"from": "x", "to": "y"}]}`,
			`{"capabilities": {"nestedNamespaces": true, "rootTables": true, "views": true, "files": true, "unchanged": true}, "version": "1.2"}`},
		{"ListNamespaces", `{}`, `{"namespaces": [{"parts": ["a"]}, {"parts": ["empty"]}]}`},
		{"LoadNamespace", `{"namespace": {"parts": ["a", "b.c"]}}`, `{}`},
		{"ListTables", `{"namespace": {"parts": ["a"]}}`, `{"entries": [{"identifier": {"parts": ["a", "t"]}, "kind": "TABLE_KIND_ICEBERG"}, {"identifier": {"parts": ["a", "uni ☃"]}, "kind": "TABLE_KIND_VIEW"}]}`},
		{"LoadTable", `{"identifier": {"parts": ["a", "t"]}}`, `{"head": {"identifier": {"parts": ["a", "t"]}, "kind": "TABLE_KIND_ICEBERG", "metadataLocation": "s3://b/t", "metadataSize": "2"}}`},
		{"Close", `{}`, `{}`},
	} {
		answers := ask(c.method, c.request)
		if want := text(t, message(t, f.method(c.method).Output(), c.want)); len(answers) == 0 || answers[0] != want {
			t.Errorf("%s answered %q, want %s", c.method, answers, want)
		}
	}
}

// oldPlugin serves the first protocol with set answers.
type oldPlugin struct {
	plugins.Plugin
	frozen  frozen
	answers map[string][]string
	t       *testing.T
	asked   map[string]proto.Message
}

func (o *oldPlugin) GRPCServer(_ *plugin.GRPCBroker, s *grpc.Server) error {
	desc := &grpc.ServiceDesc{ServiceName: "skua.catalog.v1.CatalogService", HandlerType: (*any)(nil)}
	for i := range o.frozen.service.Methods().Len() {
		d := o.frozen.service.Methods().Get(i)
		name := string(d.Name())
		desc.Streams = append(desc.Streams, grpc.StreamDesc{StreamName: name, ServerStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
			in := dynamicpb.NewMessage(d.Input())
			if err := stream.RecvMsg(in); err != nil {
				return err
			}
			o.asked[name] = in
			for _, answer := range o.answers[name] {
				if err := stream.SendMsg(message(o.t, d.Output(), answer)); err != nil {
					return err
				}
			}
			return nil
		}})
	}
	s.RegisterService(desc, struct{}{})
	return nil
}

// TestANewHostUnderstandsAnOldPlugin: today's client asks the first protocol's service everything.
func TestANewHostUnderstandsAnOldPlugin(t *testing.T) {
	o := &oldPlugin{frozen: newFrozen(t), t: t, asked: map[string]proto.Message{}, answers: map[string][]string{
		"Open":           {`{"capabilities": {"views": true, "unchanged": true}, "version": "0.0.1"}`},
		"ListNamespaces": {`{"namespaces": [{"parts": ["a"]}]}`, `{"namespaces": [{"parts": ["b"]}]}`},
		"LoadNamespace":  {`{"properties": {"location": "s3://b/a"}}`},
		"ListTables":     {`{"entries": [{"identifier": {"parts": ["a", "t"]}, "kind": "TABLE_KIND_ICEBERG"}]}`},
		"LoadTable": {`{"head": {"identifier": {"parts": ["a", "t"]}, "kind": "TABLE_KIND_ICEBERG", "metadataLocation": "s3://b/m", "config": {"k": "v"}, "metadataSize": "2",
			"credentials": [{"prefix": "s3://b", "properties": {"p": "q"}, "expires": "2031-02-03T04:05:06Z"}]}}`, `{"metadata": "e30="}`},
		"Close": {`{}`},
	}}
	connection, _ := plugin.TestPluginGRPCConn(t, false, map[string]plugin.Plugin{plugins.Name: o})
	t.Cleanup(func() { _ = connection.Close() })
	dispensed, err := connection.Dispense(plugins.Name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dispensed.(*plugins.Client).Open(t.Context(), "fake", catalogs.Config{Name: "prod", Properties: iceberg.Properties{"a": "b"}, Locations: storage.Map{{From: "x", To: "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Capabilities(), (catalogs.Capabilities{Views: true, Unchanged: true}); got != want || c.Version() != "0.0.1" {
		t.Errorf("%+v, version %q", got, c.Version())
	}
	spaces, err := collect(c.Namespaces(t.Context(), nil))
	entries, listErr := collect(c.Tables(t.Context(), table.Identifier{"a"}))
	properties, loadErr := c.LoadNamespace(t.Context(), table.Identifier{"a"})
	if err := errors.Join(err, listErr, loadErr); err != nil || len(spaces) != 2 || len(entries) != 1 || properties["location"] != "s3://b/a" {
		t.Errorf("%v, %v, %v, %v", spaces, entries, properties, err)
	}
	loaded, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"a", "t"}, Held: "s3://b/old", Fresh: true})
	if err != nil || string(loaded.Metadata) != "{}" || loaded.Locations != nil || loaded.Credentials[0].Expires.Year() != 2031 || loaded.Config["k"] != "v" {
		t.Errorf("%+v, %v", loaded, err)
	}
	if got := text(t, o.asked["LoadTable"]); got != text(t, message(t, o.frozen.method("LoadTable").Input(), `{"identifier": {"parts": ["a", "t"]}, "held": "s3://b/old"}`)) {
		t.Errorf("the old plugin was asked %s", got)
	}
	if c.Capabilities().Partitions || loaded.Files != nil {
		t.Errorf("an old plugin lists partitions: %+v", loaded.Files)
	}
	if _, err := collect(c.Partitions(t.Context(), catalogs.PartitionRequest{Identifier: table.Identifier{"a", "t"}})); !fault.Is(err, fault.Unsupported) {
		t.Errorf("partitions of an old plugin: %v", err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	o.answers["LoadTable"] = nil
	if _, err := c.Load(t.Context(), catalogs.LoadRequest{Identifier: table.Identifier{"a", "t"}}); !fault.Is(err, fault.Unavailable) {
		t.Errorf("no answer: %v", err)
	}
}
