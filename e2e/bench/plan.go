package main

import (
	"fmt"

	"plantstore/e2e/internal/wrk"
)

// The programs.
const (
	plantstoreName = "plantstore"
	floorName      = "floor"
	floorPlusName  = "floor+"
	naiveName      = "naive"
	sqliteName     = "SQLite"
	bareName       = "bare"
)

// A load is a load of wrk.
type load struct {
	order   string // of the ids
	clients int
	many    bool // different tokens
	memory  bool // the database is on a file system in memory, where a sync is free
	long    bool // long enough for several checkpoints, and evaluated second by second
}

// String names the load.
func (l load) String() string {
	suffix := ""
	switch {
	case l.many:
		suffix = ", many tokens"
	case l.memory:
		suffix = ", no disk"
	case l.long:
		suffix = ", long"
	}
	return fmt.Sprintf("%s ids%s, c=%d", l.order, suffix, l.clients)
}

// A contender is a program and the database with which it starts.
type contender struct {
	program string
	store   *store // each measurement has a copy of it; nil means an empty store
	options string // of the program, as NAME=value with spaces between them
	load    load
	killed  bool // the program is killed afterwards, under load, and started again
}

// String names the contender without its load.
func (c contender) String() string {
	name := c.program
	if c.store != nil {
		name += ", " + c.store.name()
	}
	if c.options != "" {
		name += ", " + c.options
	}
	return name
}

// A group is a list of contenders that are compared with each other, most of them with the first
// one, and therefore measured right after each other.
type group struct {
	name       string
	contenders []contender
}

// label names a contender within the group.
func (g group) label(i int) string {
	c := g.contenders[i]
	for _, other := range g.contenders {
		if c.store == nil && other.load.order != c.load.order {
			return fmt.Sprintf("%v, %s ids", c, c.load.order)
		}
	}
	return c.String()
}

// clientCounts are the numbers of connections.
func clientCounts() []int { return []int{1, 16, 64, 256} }

// plan returns the measurements.
func plan(sequential, random *store) []group {
	var groups []group
	add := func(l load, programs ...string) {
		g := group{name: l.String()}
		for _, p := range programs {
			g.contenders = append(g.contenders, contender{program: p, load: l})
		}
		groups = append(groups, g)
	}
	for _, c := range clientCounts() {
		add(load{order: wrk.Ascending, clients: c}, plantstoreName, floorName, floorPlusName, naiveName, sqliteName)
	}
	for _, c := range clientCounts() {
		add(load{order: wrk.Scattered, clients: c}, plantstoreName, naiveName)
	}
	add(load{order: wrk.Ascending, clients: 64, many: true}, plantstoreName, floorName, floorPlusName)
	for _, c := range []int{1, 64} {
		add(load{order: wrk.Ascending, clients: c, memory: true}, plantstoreName, floorName, floorPlusName, naiveName)
	}
	groups = append(groups, chainGroup(), ordersGroup(), logGroup(64), logGroup(256), storedGroup(64, sequential), storedGroup(256, sequential))
	return append(groups, longGroup(64, random), longGroup(256, random))
}

// The contenders of chainGroup.
const (
	chainBare = iota
	chainOwn
)

const chainName = "chain alone, c=64"

// chainGroup compares bare Gin with the server's middleware chain, both without a store and a
// log.
func chainGroup() group {
	l := load{order: wrk.Ascending, clients: 64}
	return group{chainName, []contender{
		chainBare: {program: bareName, load: l},
		chainOwn:  {program: floorPlusName, load: l, options: "LOG_LEVEL=error"},
	}}
}

// The contenders of ordersGroup.
const (
	ordersAscending = iota
	ordersScattered
)

const ordersName = "order of ids, c=64"

// ordersGroup compares the orders of ids, on empty stores.
func ordersGroup() group {
	return group{ordersName, []contender{
		ordersAscending: {program: plantstoreName, load: load{order: wrk.Ascending, clients: 64}},
		ordersScattered: {program: plantstoreName, load: load{order: wrk.Scattered, clients: 64}},
	}}
}

// The contenders of each group of logGroup.
const (
	logNone = iota
	logAccess
)

// logName names a group of logGroup.
func logName(clients int) string { return fmt.Sprintf("logs, c=%d", clients) }

// logGroup compares the server without an access log and with one.
func logGroup(clients int) group {
	l := load{order: wrk.Ascending, clients: clients}
	return group{logName(clients), []contender{
		logNone:   {program: plantstoreName, load: l, options: "LOG_LEVEL=error"},
		logAccess: {program: plantstoreName, load: l},
	}}
}

// The contenders of each group of storedGroup.
const (
	storedEmpty = iota
	storedSequential
)

// storedName names a group of storedGroup.
func storedName(clients int) string { return fmt.Sprintf("stored plants, c=%d", clients) }

// storedGroup compares an empty store with one of ascending ids.
func storedGroup(clients int, sequential *store) group {
	l := load{order: wrk.Ascending, clients: clients}
	return group{storedName(clients), []contender{
		storedEmpty:      {program: plantstoreName, load: l},
		storedSequential: {program: plantstoreName, load: l, store: sequential},
	}}
}

// The contenders of each group of longGroup. The last one is only in the group of 64
// clients.
const (
	longEmpty = iota
	longRandom
	longNoJournal
)

// noJournal is the option with which the server writes creates directly to the tree.
const noJournal = "JOURNAL_BYTES=0"

// longName names a group of longGroup.
func longName(clients int) string { return fmt.Sprintf("long load, c=%d", clients) }

// longGroup compares an empty store with a store of scattered ids during checkpoints, and, with
// 64 clients, the store with a journal with one without.
func longGroup(clients int, random *store) group {
	up := load{order: wrk.Ascending, clients: clients, long: true}
	across := load{order: wrk.Scattered, clients: clients, long: true}
	g := group{longName(clients), []contender{
		longEmpty:  {program: plantstoreName, load: up},
		longRandom: {program: plantstoreName, load: across, store: random, killed: clients == 64},
	}}
	if clients == 64 {
		g.contenders = append(g.contenders, contender{program: plantstoreName, load: up, options: noJournal})
	}
	return g
}
