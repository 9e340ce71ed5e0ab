package conformance

import (
	"maps"
	"slices"
	"strings"
)

// A Case is one test case of the table.
type Case struct {
	// Rule is the number of the tested rule, such as C2.13.
	Rule string
	// Name is a short description, unique within its rule.
	Name string
	// Needs are the options that the case requires.
	Needs Need
	// Racing, if not 0, runs the first of Exchanges that many times concurrently.
	Racing int
	// Exceeds repeats the first of Exchanges, faster than the server's rate limit, until
	// a response is error 429. The second one follows after its Retry-After.
	Exceeds bool
	// Exchanges are run in order, each over its own connection.
	Exchanges []Exchange
	// Every, if not nil, checks all responses of the run. Such a case sends nothing itself.
	Every func(received, Response, values) bool
}

// A Need is a set of requirements of a case beyond a URL and a token.
type Need uint16

// The needs of cases.
const (
	NeedSecret  Need = 1 << iota // the HS256 secret or a private key, to sign odd tokens
	NeedSlow                     // permission to wait for the server's timeouts
	NeedTLS                      // an https URL
	NeedOrigin                   // an origin that the server allows
	NeedForeign                  // an origin that the server does not allow
	NeedKey                      // a private key, whose public half is used as a secret
	NeedNoExp                    // that tokens without exp are accepted
	NeedLimit                    // a rate limit
	NeedAll                      // that all origins are allowed
	NeedWire                     // permission to check what HTTP libraries decide before a handler runs
)

// An Exchange is the requests and expected responses of one connection. Each request is sent
// after the response to the previous one.
type Exchange struct {
	Send []Request
	// Want are the expected responses, in order.
	Want []Response
	// Pipelined sends all requests at once, before any response is read.
	Pipelined bool
	// Pieces, if not 0, is the size of each write in bytes.
	Pieces int
	// HoldBack is the number of bytes at the end that are never sent.
	HoldBack int
	// Then is the client's action after sending.
	Then Then
	// After is the required state of the connection after the last response.
	After After
	// More allows further responses, which are ignored.
	More bool
	// Plain sends plain HTTP, even if the scheme of the URL is https.
	Plain bool

	unpaced bool // sent regardless of the rate limit
}

// Then is an action of a client after sending.
type Then uint8

// The actions after sending.
const (
	ThenReceive   Then = iota // wait for the response
	ThenHalfClose             // close its half of the connection, and wait for the response
	ThenDrop                  // close the connection without waiting
)

// After is the required state of a connection after its last response.
type After uint8

// The states of a connection.
const (
	AfterEither After = iota // the contract does not define it
	AfterKept                // the connection accepts a further request
	AfterClosed              // the server closes it
)

// A Request is written as text in which a few names in double braces, such as
// {{token}} and {{id}}, stand for values that are known only when it is sent.
type Request struct {
	// Line is the request line, without CRLF.
	Line string
	// Header are the header fields, without CRLF.
	Header []string
	// Body is the body. {{fill}} stands for letters x, {{space}} for spaces: as many as make the
	// body Size bytes longer than the server's limit.
	Body string
	Size int
	// Chunk, if not 0, is the size of the chunks in which the body is sent.
	Chunk int
	// Raw, if not empty, replaces line, header and body.
	Raw string
	// Token is the value of {{jwt}}.
	Token *Token
}

// A PlantField is a field of a Plant.
type PlantField struct{ Name, Text string }

// A Response is an expected response. The cases of [everyCases] check all responses as well.
type Response struct {
	// Codes are the allowed values of error; 200 stands for a Plant.
	Codes []int
	// Plant are the fields of the Plant, and no others.
	Plant []PlantField
	// Naming are words that the message must contain, NotNaming words that it must not.
	Naming, NotNaming []string
	// Raw are substrings that the body must contain, byte for byte.
	Raw []string
	// Header are the required header fields. An empty value means that the field must be
	// absent; a leading ~ means "contains".
	Header map[string]string
	// Challenge is a substring that WWW-Authenticate must contain, NoChallenge one that it must
	// not (C1.6).
	Challenge, NoChallenge string
	// Label identifies the message: within a case, responses with the same label have the
	// same message, responses with different labels have different ones (C5.27).
	Label string
	// NoContinue forbids an interim response 100 before it.
	NoContinue bool
	// Kind is the kind of the response.
	Kind Kind
	// MayBeTaken marks a create of a well-known id, which may be taken unless the store
	// is fresh.
	MayBeTaken bool
	// Optional ends the case if the response is error 404: the server need not have this path.
	Optional bool
}

// A Kind is a kind of response.
type Kind uint8

// The kinds of responses.
const (
	KindJSON      Kind = iota // a Plant or an Error
	KindHead                  // an Error without its body, in response to HEAD
	KindDocument              // the description of the service, status 200
	KindPreflight             // status 200 or 204, headers only
)

const postLine = "POST {{path}}/plants HTTP/1.1"

func standardHeader() []string {
	return []string{
		"Host: {{host}}", "Authorization: Bearer {{token}}",
		"Content-Type: application/json", "Content-Length: {{length}}",
	}
}

// post returns a create with this body. It is not inlined: its hundreds of calls, and
// those of three other functions, would add half a megabyte to the binary.
//
//go:noinline
func post(body string) Request {
	return Request{Line: postLine, Header: standardHeader(), Body: body}
}

// good returns a create that must succeed. It stores the plant fern.
func good() Request { return post(`{"id":{{id}},"name":"fern"}`) }

// target returns good with another request target.
func target(path string) Request { return good().line("POST " + path + " HTTP/1.1") }

// bare returns a request without a credential and without a body.
func bare(line string) Request {
	return Request{Line: line + " HTTP/1.1", Header: []string{"Host: {{host}}"}}
}

func raw(text string) Request { return Request{Raw: text} }

func (r Request) line(line string) Request { r.Line = line; return r }

func (r Request) with(lines ...string) Request {
	r.Header = slices.Concat(r.Header, lines)
	return r
}

func (r Request) without(name string) Request {
	r.Header = slices.DeleteFunc(slices.Clone(r.Header), func(line string) bool {
		return strings.HasPrefix(line, name+":")
	})
	return r
}

// replace replaces all header fields of the same name.
func (r Request) replace(line string) Request {
	name, _, _ := strings.Cut(line, ":")
	return r.without(name).with(line)
}

func (r Request) chunked(size int) Request {
	r.Chunk = size
	return r.replace("Transfer-Encoding: chunked").without("Content-Length")
}

// sized makes the body longer than the server's limit by over bytes.
func (r Request) sized(over int) Request { r.Size = over; return r }

// bearing sends a forged token as the credential.
func (r Request) bearing(t Token) Request {
	r.Token = &t
	return r.replace("Authorization: Bearer {{jwt}}")
}

//go:noinline
func plant(name string, others ...PlantField) Response {
	return Response{Codes: []int{200}, Plant: append([]PlantField{{"name", name}}, others...)}
}

func tagged(name, tag string) Response { return plant(name, PlantField{"tag", tag}) }

// fern returns the response to good.
func fern() Response { return plant("fern") }

// fails returns an Error with one of these codes.
//
//go:noinline
func fails(codes ...int) Response { return Response{Codes: codes} }

// invalid returns the Error for JSON that is not a NewPlant because of these fields.
func invalid(fields ...string) Response {
	a := fails(422).naming(fields...)
	for _, m := range []string{"id", "name", "tag"} {
		if !slices.Contains(fields, m) {
			a.NotNaming = append(a.NotNaming, m)
		}
	}
	return a
}

// or also allows an Error with one of these codes.
func (a Response) or(codes ...int) Response {
	a.Codes = slices.Concat(a.Codes, codes)
	return a
}

func (a Response) naming(words ...string) Response { a.Naming = words; return a }

func (a Response) labelled(label string) Response { a.Label = label; return a }

func (a Response) raw(pieces ...string) Response { a.Raw = pieces; return a }

func (a Response) header(name, value string) Response {
	header := map[string]string{name: value}
	maps.Copy(header, a.Header)
	a.Header = header
	return a
}

func (a Response) optional() Response { a.Optional = true; return a }

// mayBeTaken marks a create of a well-known id.
func (a Response) mayBeTaken() Response { a.MayBeTaken = true; return a }

//go:noinline
func one(rule, name string, r Request, a Response) Case {
	return Case{Rule: rule, Name: name, Exchanges: []Exchange{{Send: []Request{r}, Want: []Response{a}}}}
}

func body(rule, name, text string, a Response) Case { return one(rule, name, post(text), a) }

// then adds a request over a new connection.
func (c Case) then(r Request, a Response) Case {
	c.Exchanges = slices.Concat(c.Exchanges, []Exchange{{Send: []Request{r}, Want: []Response{a}}})
	return c
}

// again adds a request over the same connection.
func (c Case) again(r Request, a Response) Case {
	return c.last(func(t *Exchange) {
		t.Send, t.Want = slices.Concat(t.Send, []Request{r}), slices.Concat(t.Want, []Response{a})
	})
}

// last changes the last exchange of the case.
func (c Case) last(change func(*Exchange)) Case {
	c.Exchanges = slices.Clone(c.Exchanges)
	change(&c.Exchanges[len(c.Exchanges)-1])
	return c
}

func (c Case) needs(n Need) Case { c.Needs |= n; return c }
func (c Case) wire() Case        { return c.needs(NeedWire) }
func (c Case) kept() Case        { return c.last(func(t *Exchange) { t.After = AfterKept }) }
func (c Case) closed() Case      { return c.last(func(t *Exchange) { t.After = AfterClosed }) }
func (c Case) pipelined() Case   { return c.last(func(t *Exchange) { t.Pipelined = true }) }
func (c Case) pieces(n int) Case { return c.last(func(t *Exchange) { t.Pieces = n }) }

// cut holds back the last n bytes, and then does then.
func (c Case) cut(n int, then Then) Case {
	return c.last(func(t *Exchange) {
		t.HoldBack, t.Then = n, then
		if then == ThenDrop {
			t.Want = nil
		}
	})
}

// A variant is the name and the text of one of several similar cases.
type variant struct{ name, text string }

// bodies returns a case of rule C2.10 for each variant, all with the same response.
func bodies(a Response, variants ...variant) []Case {
	cases := make([]Case, len(variants))
	for i, v := range variants {
		cases[i] = body(jsonRule, v.name, v.text, a)
	}
	return cases
}

// Cases returns the table, ordered by rule.
func Cases() []Case {
	cases := slices.Concat(
		everyCases(), interfaceCases(), responseCases(), headerCases(), refusalCases(), framingCases(),
		orderCases(), mediaCases(), grammarCases(), numberCases(), stringCases(), encodingCases(), structureCases(),
		fieldCases(), requiredCases(), idCases(), textCases(), sizeCases(), cutCases(),
		pathCases(), methodCases(), corsCases(),
		credentialCases(), tokenCases(), josePartCases(), tokenLimitCases(), timeCases(), claimCases(), secretCases(),
		storeCases(), slowCases(), limitCases(),
	)
	for i := range cases {
		cases[i].Needs |= cases[i].tokenNeeds() | cases[i].wireNeeds()
	}
	order := make(map[string]int)
	for i, rule := range Rules() {
		order[rule.ID] = i
	}
	slices.SortStableFunc(cases, func(a, b Case) int { return order[a.Rule] - order[b.Rule] })
	return cases
}

// wireNeeds returns NeedWire if most HTTP libraries respond to a request of the case before a handler runs.
func (c Case) wireNeeds() Need {
	for _, t := range c.Exchanges {
		if t.Plain || slices.ContainsFunc(t.Send, func(r Request) bool { return r.Raw != "" }) {
			return NeedWire
		}
		for _, a := range t.Want {
			if slices.ContainsFunc(a.Codes, func(code int) bool { return code == 417 || code == 431 || code == 501 || code == 505 }) {
				return NeedWire
			}
		}
	}
	return 0
}

// tokenNeeds returns NeedSecret if a token of the case is signed with the secret.
func (c Case) tokenNeeds() Need {
	for _, t := range c.Exchanges {
		for _, r := range t.Send {
			if r.Token != nil && r.Token.needsSecret() {
				return NeedSecret
			}
		}
	}
	return 0
}
