// Package outline shortens JSON to what fits a budget and still shows its
// structure.
//
// [Of] keeps keys, the beginning and end of arrays and the beginning of strings,
// and says in their place how much it left out. The outline is JSON itself, so
// that whoever reads it sees what the whole can be asked for.
package outline
