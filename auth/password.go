package auth

import (
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/skua-data/skua/fault"
)

// The cost of a new hash, and the most that a users file may ask for.
const (
	iterations    = 600_000
	maxIterations = 10_000_000
	scheme        = "pbkdf2-sha256"
)

// Hash gives a password in the form that a users file holds: $pbkdf2-sha256$iterations$salt$key, salt and key in unpadded base64. It takes
// a good part of a second.
func Hash(password string) (string, error) {
	h := hash{iterations: iterations, salt: make([]byte, 16)}
	rand.Read(h.salt)
	return h.text(password)
}

// hash is a parsed hash.
type hash struct {
	iterations int
	salt, key  []byte
}

func parseHash(text string) (hash, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 5 || parts[0] != "" || parts[1] != scheme {
		return hash{}, fault.New(fault.Invalid, "a password hash must be $%s$iterations$salt$key", scheme)
	}
	n, err := strconv.Atoi(parts[2])
	if err != nil || n < 1 || n > maxIterations {
		return hash{}, fault.New(fault.Invalid, "a password hash has a bad number of iterations")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[3])
	if err != nil || len(salt) < 8 {
		return hash{}, fault.New(fault.Invalid, "a password hash has a bad salt")
	}
	key, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil || len(key) != sha256.Size {
		return hash{}, fault.New(fault.Invalid, "a password hash has a bad key")
	}
	return hash{n, salt, key}, nil
}

// text writes the hash of a password with h's salt and cost.
func (h hash) text(password string) (string, error) {
	key, err := pbkdf2.Key(sha256.New, password, h.salt, h.iterations, sha256.Size)
	if err != nil {
		return "", fault.New(fault.Invalid, "hash a password: %w", err)
	}
	encode := base64.RawStdEncoding.EncodeToString
	return "$" + scheme + "$" + strconv.Itoa(h.iterations) + "$" + encode(h.salt) + "$" + encode(key), nil
}

func (h hash) matches(password string) bool {
	key, err := pbkdf2.Key(sha256.New, password, h.salt, h.iterations, len(h.key))
	return err == nil && subtle.ConstantTimeCompare(key, h.key) == 1
}
