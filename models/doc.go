// Package models defines the types on the wire: Plant, NewPlant with its validation,
// and Error with its codes. It also detects tokens in text that may be logged. It
// imports no other package of this module.
package models
