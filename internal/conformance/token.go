package conformance

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Token is a recipe for a JWT that [Request.Token] carries. The zero Token is valid: HS256
// with the server's secret, or signed with the private key if the run has one, and valid for an
// hour.
type Token struct {
	// Header and Claims are texts, encoded unchanged; empty means valid ones. With a private
	// key, its algorithm and kid replace HS256.
	Header, Claims string
	// MAC is the algorithm of the signature: HS256 (if empty), HS384, HS512 or none.
	MAC string
	// Key signs instead of the secret.
	Key string
	// Padded pads the segments before they are signed.
	Padded bool
	// Given starts from the token of the run, which needs no secret.
	Given bool
	// Bend changes the finished token.
	Bend func(token string) (string, error)
}

// errNotApplicable means that a case does not apply with the given options.
var errNotApplicable = errors.New("not applicable")

// errTokenKind means that the case cannot be derived from a token of this kind.
var errTokenKind = fmt.Errorf("%w: the case cannot be made from the given token", errNotApplicable)

func (t Token) needsSecret() bool { return !t.Given && t.Key == "" && t.MAC != "none" }

// text returns the token. Reports show a placeholder, as the token may be valid.
func (t Token) text(v values) (string, error) {
	if v.hidden {
		return "$JWT", nil
	}
	token := v.token
	if !t.Given {
		var err error
		if token, err = t.sign(v); err != nil {
			return "", err
		}
	}
	if t.Bend == nil {
		return token, nil
	}
	if strings.Count(token, ".") != 2 {
		return "", errTokenKind
	}
	return t.Bend(token)
}

func (t Token) sign(v values) (string, error) {
	header := cmp.Or(t.Header, `{"alg":"HS256","typ":"JWT"}`)
	byKey := v.key != nil && t.needsSecret() && t.MAC == ""
	if byKey {
		var err error
		if header, err = headerOf(v.key, header); err != nil {
			return "", err
		}
	}
	claims := v.fillClaims(cmp.Or(t.Claims, `{{{live}}}`))
	signed := encode(v.fill(header)) + "." + encode(claims)
	if t.Padded {
		signed = pad(v.fill(header)) + "." + pad(claims)
	}
	if byKey {
		signature, err := v.key.Sign(signed)
		return signed + "." + encode(string(signature)), err
	}
	key := []byte(v.fill(t.Key))
	if t.Key == "" {
		key = slices.Concat(v.secret, v.public) // at most one of them is given
	}
	return signed + "." + mac(t.MAC, key, signed), nil
}

// headerOf returns the header to sign with a private key where the case has a valid header for
// HS256. Some headers are wrong for a secret, and right for the key.
func headerOf(key Key, header string) (string, error) {
	name := `"` + key.Alg() + `"`
	if strings.Contains(header, name) || strings.Contains(header, `"kid"`) {
		return "", fmt.Errorf("%w: the case is for the HS256 secret, and the run signs with a private key", errNotApplicable)
	}
	if kid := key.Kid(); kid != "" {
		name += `,"kid":` + strconv.Quote(kid)
	}
	return strings.ReplaceAll(header, `"HS256"`, name), nil
}

func mac(algorithm string, key []byte, signed string) string {
	var h func() hash.Hash
	switch algorithm {
	case "none":
		return ""
	case "HS384":
		h = sha512.New384
	case "HS512":
		h = sha512.New
	default:
		h = sha256.New
	}
	m := hmac.New(h, key)
	m.Write([]byte(signed))
	return encode(string(m.Sum(nil)))
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

// pad encodes a text so that it ends in padding, and appends spaces if necessary.
func pad(s string) string {
	for len(s)%3 == 0 {
		s += " "
	}
	return base64.URLEncoding.EncodeToString([]byte(s))
}

// claimsOf returns the claims that a server's configuration may require, iss, aud and scope, as
// in the token given, with a separate subject.
func claimsOf(token string) string {
	claims := `"sub":"conformance"`
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	var fields map[string]jsontext.Value
	if err != nil || json.Unmarshal(payload, &fields) != nil {
		return claims
	}
	for _, name := range []string{"iss", "aud", "scope"} {
		if value, ok := fields[name]; ok {
			claims += `,"` + name + `":` + string(value)
		}
	}
	return claims
}

// bend returns a function that changes the three segments of a token.
func bend(f func(header, claims, signature string) string) func(string) (string, error) {
	return func(token string) (string, error) {
		parts := strings.SplitN(token, ".", 3)
		if len(parts) != 3 || len(parts[2]) < 2 { // no signature to change
			return "", errTokenKind
		}
		return f(parts[0], parts[1], parts[2]), nil
	}
}

// spareBits sets a bit in the last character of the signature that belongs to none of its bytes,
// so that a lax decoder decodes the same signature.
func spareBits(token string) (string, error) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	signature := token[strings.LastIndexByte(token, '.')+1:]
	last := strings.IndexByte(alphabet, token[len(token)-1])
	if len(signature)%4 == 0 || last < 0 {
		return "", errTokenKind
	}
	return token[:len(token)-1] + alphabet[last^1:][:1], nil
}

// flipBit changes the first bit of the signature.
func flipBit(token string) (string, error) {
	at := strings.LastIndexByte(token, '.') + 1
	signature, err := base64.RawURLEncoding.DecodeString(token[at:])
	if err != nil || len(signature) == 0 {
		return "", errTokenKind
	}
	signature[0] ^= 0x80
	return token[:at] + encode(string(signature)), nil
}
