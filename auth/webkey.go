package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"math/big"
	"slices"
	"strings"
)

// webKey is one key of a JSON Web Key Set (RFC 7517). Only public keys are read: a symmetric one has no place in a set that anybody can fetch.
type webKey struct {
	ID         string   `json:"kid"`
	Type       string   `json:"kty"`
	Use        string   `json:"use"`
	Operations []string `json:"key_ops"`
	Algorithm  string   `json:"alg"`
	Curve      string   `json:"crv"`
	N          string   `json:"n"`
	E          string   `json:"e"`
	X          string   `json:"x"`
	Y          string   `json:"y"`

	public  any
	allowed []string // algorithms that the key's kind is for
}

var errBadKey = errors.New("the key cannot verify a token")

// Moduli of fewer bits are weak, of more cost too much for each call.
const minModulus, maxModulus = 2048, 8192

// fits reports whether the key may verify an algorithm's signatures.
func (k *webKey) fits(algorithm string) bool {
	return slices.Contains(k.allowed, algorithm) && (k.Algorithm == "" || k.Algorithm == algorithm)
}

// read makes the public key of the members.
func (k *webKey) read() error {
	if k.Use != "" && k.Use != "sig" || len(k.Operations) > 0 && !slices.Contains(k.Operations, "verify") {
		return errBadKey
	}
	switch k.Type {
	case "RSA":
		return k.readRSA()
	case "EC":
		return k.readEC()
	case "OKP":
		x, err := decodeMember(k.X)
		if err != nil || k.Curve != "Ed25519" || len(x) != ed25519.PublicKeySize {
			return errBadKey
		}
		k.public, k.allowed = ed25519.PublicKey(x), []string{"EdDSA"}
		return nil
	}
	return errBadKey
}

func (k *webKey) readRSA() error {
	n, errN := decodeMember(k.N)
	e, errE := decodeMember(k.E)
	if errN != nil || errE != nil || len(e) > 4 {
		return errBadKey
	}
	modulus, exponent := new(big.Int).SetBytes(n), new(big.Int).SetBytes(e).Int64()
	if bits := modulus.BitLen(); bits < minModulus || bits > maxModulus || exponent < 3 || exponent%2 == 0 {
		return errBadKey
	}
	k.public = &rsa.PublicKey{N: modulus, E: int(exponent)}
	k.allowed = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}
	return nil
}

func (k *webKey) readEC() error {
	curves := map[string]struct {
		curve     elliptic.Curve
		algorithm string
	}{"P-256": {elliptic.P256(), "ES256"}, "P-384": {elliptic.P384(), "ES384"}, "P-521": {elliptic.P521(), "ES512"}}
	c, known := curves[k.Curve]
	x, errX := decodeMember(k.X)
	y, errY := decodeMember(k.Y)
	if !known || errX != nil || errY != nil {
		return errBadKey
	}
	size := (c.curve.Params().BitSize + 7) / 8
	if len(x) > size || len(y) > size {
		return errBadKey
	}
	point := make([]byte, 1+2*size)
	point[0] = 4 // uncompressed
	copy(point[1+size-len(x):], x)
	copy(point[1+2*size-len(y):], y)
	public, err := ecdsa.ParseUncompressedPublicKey(c.curve, point)
	if err != nil {
		return errBadKey
	}
	k.public, k.allowed = public, []string{c.algorithm}
	return nil
}

// decodeMember reads base64url, which some write with padding.
func decodeMember(text string) ([]byte, error) {
	if text == "" {
		return nil, errBadKey
	}
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}
