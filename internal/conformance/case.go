package conformance

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Case is one row of the table.
type Case struct {
	// Rule is the number of the rule that the case shows, such as C2.13.
	Rule string
	// Name says in a few words what is special; unique within its rule.
	Name string
	// Needs is what the options must give for the case to be run.
	Needs Need
	// Racing, if not 0, has the first of Talks so many times at once.
	Racing int
	// Talks are had one after the other, each over a connection of its own.
	Talks []Talk
}

// A Need is a set of things that a case needs beyond a URL and a token.
type Need uint8

// The needs of cases.
const (
	NeedSecret  Need = 1 << iota // the HS256 secret or a private key, to sign odd tokens
	NeedSlow                     // leave to wait for the server's time-outs
	NeedTLS                      // an https URL
	NeedOrigin                   // an origin that the server allows
	NeedForeign                  // an origin that the server does not allow
	NeedKey                      // a private key, whose public half is used as a secret
	NeedTwo                      // HTTP/2
	NeedEndless                  // that tokens without exp are accepted
)

// A Talk is the requests and expected responses of one connection. Each request is sent
// after the response to the previous one.
type Talk struct {
	Send []Request
	// Want are the answers that must come, in order.
	Want []Answer
	// Pipelined sends all requests at once, before any answer is read.
	Pipelined bool
	// Pieces, if not 0, is how many bytes are written at once.
	Pieces int
	// HoldBack is how many bytes at the end are never sent.
	HoldBack int
	// Then is what the client does when it has sent what it sends.
	Then Then
	// After is what must become of the connection after the last answer.
	After After
	// More allows further answers, which are not looked at.
	More bool
	// Plain speaks plain HTTP to whatever port the URL names.
	Plain bool
	// Two is about what only HTTP/2 has, or must not have.
	Two bool
	// Resets allows that in HTTP/2 the stream is reset instead of an answer
	// (RFC 9113, 8.1.1).
	Resets bool
}

// Then is what a client does after sending.
type Then uint8

// What a client does after sending.
const (
	ThenListen    Then = iota // wait for the answer
	ThenHalfClose             // close its half of the connection, and listen
	ThenDrop                  // close the connection without listening
)

// After is the required state of a connection after its last response.
type After uint8

// The states of a connection.
const (
	AfterEither After = iota // the contract leaves it open
	AfterKept                // a further request over it is answered
	AfterClosed              // the server closes it
)

// A Request is written as text in which a few names in double braces, such as
// {{token}} and {{id}}, stand for what is known only when it is sent.
type Request struct {
	// Line is the request line, without its end.
	Line string
	// Header are the lines of the header, without their ends.
	Header []string
	// Body is what follows. {{fill}} in it is as many letters x, {{space}} as
	// many spaces, as make the body Size bytes longer than the server's limit.
	Body string
	Size int
	// Chunk, if not 0, sends the body in chunks of so many bytes.
	Chunk int
	// Raw, if not empty, is all that is sent: line, header and body.
	Raw string
	// Token is what {{jwt}} stands for.
	Token *Token
}

// An Answer is an expected response. All responses must conform to C1 as well.
type Answer struct {
	// Codes are the values that error may have; 200 stands for a Plant.
	Codes []int
	// Name and Tag are the Plant; a nil Tag means that there is none.
	Name string
	Tag  *string
	// Naming are words that the message must have, Silent those that it must not.
	Naming, Silent []string
	// Raw are pieces that the body must have, byte for byte.
	Raw []string
	// Header are fields that the answer must have. An empty value means that
	// it must not be there; a leading ~ stands for "contains".
	Header map[string]string
	// NoChallenge is a piece that WWW-Authenticate must not have.
	NoChallenge string
	// Says labels the message: within a case, answers with the same label
	// have the same message, those with different ones do not (C5.27).
	Says string
	// NoContinue forbids an interim answer 100 before this one.
	NoContinue bool
	// Kind says if the answer is anything else than a Plant or an Error.
	Kind Kind
	// Known marks a create under a well-known id, which may be taken unless
	// the store is fresh.
	Known bool
}

// A Kind is a kind of response.
type Kind uint8

// The kinds of responses.
const (
	KindJSON      Kind = iota // a Plant or an Error
	KindHead                  // an Error without its body, as HEAD gets it
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

// post is a create like any other, with this body. The table has hundreds of these
// calls: inlined, they and those of three more would make the binary larger by
// half a megabyte.
//
//go:noinline
func post(body string) Request {
	return Request{Line: postLine, Header: standardHeader(), Body: body}
}

// good is a create that must succeed; it stores the plant fern.
func good() Request { return post(`{"id":{{id}},"name":"fern"}`) }

// target is good with another request target.
func target(path string) Request { return good().line("POST " + path + " HTTP/1.1") }

// bare is a request without credential and body.
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

// replace puts a line in the place of those with the same name.
func (r Request) replace(line string) Request {
	name, _, _ := strings.Cut(line, ":")
	return r.without(name).with(line)
}

func (r Request) chunked(size int) Request {
	r.Chunk = size
	return r.replace("Transfer-Encoding: chunked").without("Content-Length")
}

// sized makes the body so many bytes longer than the server's limit.
func (r Request) sized(over int) Request { r.Size = over; return r }

// bearing makes a forged token the credential.
func (r Request) bearing(t Token) Request {
	r.Token = &t
	return r.replace("Authorization: Bearer {{jwt}}")
}

//go:noinline
func plant(name string) Answer { return Answer{Codes: []int{200}, Name: name} }

func tagged(name, tag string) Answer {
	return Answer{Codes: []int{200}, Name: name, Tag: &tag}
}

// fern is the answer to good.
func fern() Answer { return plant("fern") }

// fails is an Error with one of these values.
//
//go:noinline
func fails(codes ...int) Answer { return Answer{Codes: codes} }

// invalid is the answer to JSON that is not a NewPlant because of these fields.
func invalid(members ...string) Answer {
	a := fails(422).naming(members...)
	for _, m := range []string{"id", "name", "tag"} {
		if !slices.Contains(members, m) {
			a.Silent = append(a.Silent, m)
		}
	}
	return a
}

// or allows an Error with one of these values as well.
func (a Answer) or(codes ...int) Answer {
	a.Codes = slices.Concat(a.Codes, codes)
	return a
}

func (a Answer) naming(words ...string) Answer { a.Naming = words; return a }

func (a Answer) says(label string) Answer { a.Says = label; return a }

func (a Answer) raw(pieces ...string) Answer { a.Raw = pieces; return a }

func (a Answer) header(name, value string) Answer {
	header := map[string]string{name: value}
	maps.Copy(header, a.Header)
	a.Header = header
	return a
}

// known marks a create under a well-known id.
func (a Answer) known() Answer { a.Known = true; return a }

//go:noinline
func one(rule, name string, r Request, a Answer) Case {
	return Case{Rule: rule, Name: name, Talks: []Talk{{Send: []Request{r}, Want: []Answer{a}}}}
}

func body(rule, name, text string, a Answer) Case { return one(rule, name, post(text), a) }

// then adds a request over a connection of its own.
func (c Case) then(r Request, a Answer) Case {
	c.Talks = slices.Concat(c.Talks, []Talk{{Send: []Request{r}, Want: []Answer{a}}})
	return c
}

// again adds a request over the same connection.
func (c Case) again(r Request, a Answer) Case {
	return c.last(func(t *Talk) {
		t.Send, t.Want = slices.Concat(t.Send, []Request{r}), slices.Concat(t.Want, []Answer{a})
	})
}

// last changes the last talk of the case.
func (c Case) last(change func(*Talk)) Case {
	c.Talks = slices.Clone(c.Talks)
	change(&c.Talks[len(c.Talks)-1])
	return c
}

func (c Case) needs(n Need) Case { c.Needs |= n; return c }
func (c Case) kept() Case        { return c.last(func(t *Talk) { t.After = AfterKept }) }
func (c Case) closed() Case      { return c.last(func(t *Talk) { t.After = AfterClosed }) }
func (c Case) pipelined() Case   { return c.last(func(t *Talk) { t.Pipelined = true }) }
func (c Case) pieces(n int) Case { return c.last(func(t *Talk) { t.Pieces = n }) }

func (c Case) resets() Case { return c.last(func(t *Talk) { t.Resets = true }) }

// inTwo makes the case one of HTTP/2 only.
func (c Case) inTwo() Case {
	return c.last(func(t *Talk) { t.Two = true }).needs(NeedTwo | NeedTLS)
}

// cut holds the last n bytes back, and then does what then says.
func (c Case) cut(n int, then Then) Case {
	return c.last(func(t *Talk) {
		t.HoldBack, t.Then = n, then
		if then == ThenDrop {
			t.Want = nil
		}
	})
}

// A variant is a name and a text, for cases that differ in nothing else.
type variant struct{ name, text string }

// bodies makes a case about JSON of each variant, all with the same answer.
func bodies(a Answer, variants ...variant) []Case {
	cases := make([]Case, len(variants))
	for i, v := range variants {
		cases[i] = body(jsonRule, v.name, v.text, a)
	}
	return cases
}

// Cases returns the table, ordered by rule.
func Cases() []Case {
	cases := slices.Concat(
		interfaceCases(), answerCases(), headerCases(), refusalCases(), twoCases(), framingCases(),
		orderCases(), mediaCases(), grammarCases(), numberCases(), stringCases(), encodingCases(), structureCases(),
		memberCases(), requiredCases(), idCases(), textCases(), sizeCases(), cutCases(),
		pathCases(), methodCases(), corsCases(),
		credentialCases(), tokenCases(), josePartCases(), timeCases(), claimCases(), secretCases(),
		storeCases(), slowCases(),
	)
	for i := range cases {
		cases[i].Needs |= cases[i].tokenNeeds()
	}
	slices.SortStableFunc(cases, func(a, b Case) int { return ruleOrder(a.Rule) - ruleOrder(b.Rule) })
	return cases
}

// tokenNeeds is NeedSecret if a token of the case is signed with the secret.
func (c Case) tokenNeeds() Need {
	for _, t := range c.Talks {
		for _, r := range t.Send {
			if r.Token != nil && r.Token.needsSecret() {
				return NeedSecret
			}
		}
	}
	return 0
}

// ruleOrder is 13 for C2.13: rules are numbered through.
func ruleOrder(rule string) int {
	_, number, _ := strings.Cut(rule, ".")
	n, _ := strconv.Atoi(number)
	return n
}
