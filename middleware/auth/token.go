package auth

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

// The limits of what is parsed before a signature is verified (C4.25a): a parser that recurses would
// keep a large stack for each connection.
const (
	maxHeader = models.MaxTokenHeader
	maxDepth  = 16 // of objects and arrays, in the header and in the claims
)

// maxTrials is the maximum number of keys that a token is tried with (C4.25a).
const maxTrials = 4

// A parsedToken is well-formed, and not verified.
type parsedToken struct {
	alg, kid  string // in the header; empty: none
	signed    string // the header and the claims, as they were signed
	claims    []byte // JSON
	signature []byte
}

// parse decodes a token: three segments of unpadded base64url (RFC 7515, section 7.1). Its header is
// a JSON object without duplicates and without crit, since no extension is supported (section 4.1.11).
// Keys in the header are ignored (C4.21).
func parse(token string) (t parsedToken, err error) {
	segments := strings.SplitN(token, ".", 4)
	switch {
	case token == "":
		return t, refuse(ReasonMalformed, "the access token is empty; plantstore token prints one")
	case len(segments) != 3, strings.Contains(token, "\n"), strings.Contains(token, "\r"): // which the decoder skips
		return t, errMalformed
	case encoding().DecodedLen(len(segments[0])) > maxHeader:
		return t, refuse(ReasonMalformed, "the header of the access token has more than %d bytes", maxHeader)
	}
	text, err := decode(segments[0])
	if err != nil {
		return t, err
	}
	var header struct {
		Alg  jsontext.Value `json:"alg"`
		Kid  jsontext.Value `json:"kid"`
		Crit jsontext.Value `json:"crit"`
	}
	if err := unmarshalObject(text, &header); err != nil || header.Crit != nil {
		return t, errMalformed
	}
	t.alg, t.kid, t.signed = stringOf(header.Alg), stringOf(header.Kid), token[:len(segments[0])+1+len(segments[1])]
	if t.alg == ed25519Alg {
		t.alg = "EdDSA"
	}
	if t.claims, err = decode(segments[1]); err != nil {
		return t, err
	}
	if t.signature, err = encoding().DecodeString(segments[2]); err != nil {
		return t, errMalformed
	}
	return t, nil
}

func encoding() *base64.Encoding { return base64.RawURLEncoding.Strict() }

// decode returns the JSON in a segment. It decodes no more than it has to of one that nests too deep.
func decode(segment string) (text []byte, err error) {
	var state nesting
	for size := 1 << 10; segment != ""; size *= 2 { // a multiple of four characters
		size = min(size, len(segment))
		before := len(text)
		if text, err = encoding().AppendDecode(text, []byte(segment[:size])); err != nil {
			return nil, errMalformed
		}
		if state.exceedsLimit(text[before:]) {
			return nil, refuse(ReasonMalformed, "the access token nests deeper than %d levels", maxDepth)
		}
		segment = segment[size:]
	}
	return text, nil
}

// A nesting is the state within JSON. A text that is not valid JSON may be too deep only after its first
// error, where no parser gets.
type nesting struct {
	depth           int
	quoted, escaped bool
}

// exceedsLimit reports whether the next piece of the text nests deeper than maxDepth.
func (n *nesting) exceedsLimit(piece []byte) bool {
	for _, c := range piece {
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted && c == '\\':
			n.escaped = true
		case c == '"':
			n.quoted = !n.quoted
		case n.quoted:
		case c == '{' || c == '[':
			if n.depth++; n.depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			n.depth--
		}
	}
	return false
}

// unmarshalObject decodes a JSON object without duplicate names.
func unmarshalObject(text []byte, fields any) error {
	if jsontext.Value(text).Kind() != jsontext.KindBeginObject || json.Unmarshal(text, fields) != nil {
		return errMalformed
	}
	return nil
}

// verify checks the signature with at most maxTrials of the keys that are bound to the algorithm: first
// those with the kid of the token, then, for a token with a kid, those without one, else the others. If
// each key of the algorithm has a kid, the token needs one, too.
func (t parsedToken) verify(keys []boundKey) error {
	fitting := slices.DeleteFunc(slices.Clone(keys), func(k boundKey) bool { return !slices.Contains(k.algorithms, t.alg) })
	if len(fitting) == 0 {
		return t.unknownAlgorithm(keys)
	}
	fitting = slices.DeleteFunc(fitting, func(k boundKey) bool { return k.id != t.kid && k.id != "" && t.kid != "" })
	slices.SortStableFunc(fitting, func(a, b boundKey) int { return t.distance(a) - t.distance(b) })
	switch {
	case len(fitting) == 0:
		return errUnknownKey
	case t.kid == "" && fitting[0].id != "":
		return refuse(ReasonUnknownKey, "the header of the access token lacks kid, the name of the key that signed it")
	}
	method := jwt.GetSigningMethod(t.alg)
	for _, key := range fitting[:min(len(fitting), maxTrials)] {
		if method.Verify(t.signed, t.signature, key.material) == nil {
			return nil
		}
	}
	return errSignature
}

// distance orders keys: first those with the kid of the token, or, if it has none, those without.
func (t parsedToken) distance(k boundKey) int {
	if k.id == t.kid {
		return 0
	}
	return 1
}

// unknownAlgorithm returns the error if no key is bound to the algorithm. It names only registered ones
// (C4.25).
func (t parsedToken) unknownAlgorithm(keys []boundKey) error {
	var accepted []string
	for _, key := range keys {
		accepted = append(accepted, key.algorithms...)
	}
	if accepted == nil {
		return errUnknownKey
	}
	slices.Sort(accepted)
	arrived := "unknown"
	if jwt.GetSigningMethod(t.alg) != nil {
		arrived = t.alg
	}
	return refuse(ReasonUnknownKey, "the algorithm (alg) of the access token is %s, and this server accepts %s",
		arrived, strings.Join(slices.Compact(accepted), ", "))
}
