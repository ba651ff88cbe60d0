package search

import "strings"

// stopWords say nothing of what a tool does, only that somebody wants something.
var stopWords = setOf(`
	a an and are as at be but by for if in into is it no not of on or such that the
	their then there these they this to was will with i me my we us our you your he
	she him her his its them what which who whom whose how when where why do does did
	doing done can could would should shall may might must am been being have has had
	having about above after again against all any because before below between both
	down during each few from further here more most other out over own same so some
	than too under until up very just please help need want like let know tell give
	s t ll ve re d m don im
`)

// breaks begin another part of a request.
var breaks = setOf(`then also finally additionally afterwards`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}
