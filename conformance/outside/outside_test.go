package outside

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/skua-data/skua/conformance"
)

// TestMain lets the test binary be the client's program, too.
func TestMain(m *testing.M) {
	if os.Getenv("SKUA_OUTSIDE") != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// program answers as the statement says.
func program() {
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	fmt.Println(`{"name":"fake"}`)
	for in.Scan() {
		var r struct {
			ID      int
			Do, SQL string
			Args    []string
		}
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			os.Exit(3)
		}
		switch {
		case r.Do != "ask":
			fmt.Printf("{\"id\":%d,\"ok\":true}\n", r.ID)
		case r.SQL == "hang":
			select {}
		case r.SQL == "die":
			fmt.Fprintln(os.Stderr, "it died")
			os.Exit(2)
		case r.SQL == "lie":
			fmt.Println("nonsense")
		case r.SQL == "fail":
			fmt.Printf("{\"id\":%d,\"error\":{\"code\":\"NOT_FOUND\",\"message\":\"no\"}}\n", r.ID)
		default:
			fmt.Printf("{\"id\":%d,\"columns\":[\"a\"],\"rows\":[[\"%s\"]]}\n", r.ID, strings.Join(r.Args, ";"))
		}
	}
}

// TestAProgramThatMisbehavesIsStartedAgain: whatever the program does, the next session works.
func TestAProgramThatMisbehavesIsStartedAgain(t *testing.T) {
	t.Setenv("SKUA_OUTSIDE", "1")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	client, err := Start(t.Context(), Config{Program: self, URI: "grpc://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if client.Name() != "fake" {
		t.Errorf("it is called %q", client.Name())
	}
	for sql, want := range map[string]string{"hang": "deadline", "die": "it died", "lie": "nonsense", "fail": "no"} {
		session, err := client.Sessions()(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		limit := time.Minute
		if sql == "hang" {
			limit = 100 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err = session.Ask(ctx, conformance.Question{SQL: sql})
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", sql, err, want)
		}
		if sql == "fail" && status.Code(err) != codes.NotFound {
			t.Errorf("the code is %v", status.Code(err))
		}
		_ = session.Close() // it may have ended with the program
		next, err := client.Sessions()(t.Context())
		if err != nil {
			t.Fatalf("after %s: %v", sql, err)
		}
		answer, err := next.Ask(t.Context(), conformance.Question{SQL: "fine", Texts: []string{"int 1"}})
		if err != nil || answer.Text.Rows[0][0] != "int 1" {
			t.Errorf("after %s: %+v, %v", sql, answer, err)
		}
		if err := next.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAProgramThatDoesNotStartIsTold has the reason in the error.
func TestAProgramThatDoesNotStartIsTold(t *testing.T) {
	t.Setenv("SKUA_JDBC_DRIVER", "")
	for program, want := range map[string]string{"./no-such-program": "no-such-program", "Jdbc.java": "SKUA_JDBC_DRIVER"} {
		if _, err := Start(t.Context(), Config{Program: program}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", program, err)
		}
	}
}
