// Package models holds what goes over the wire: the plants, the rules that a
// NewPlant keeps, and the Error with its codes. It imports no other package of
// this module.
package models
