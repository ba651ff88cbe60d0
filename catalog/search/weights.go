package search

import "math"

// The figures that ranking rests on. They were chosen on several public sets of
// tools and queries at once, and nearly all of them lie on a plateau: half or
// twice the value changes little. TestQuality keeps what they achieve.

// fieldWeight is what a word in a field is worth, and what is taken off for the
// field's length.
type fieldWeight struct {
	weight float64
	// slope says how much longer fields count less: not at all (0) to in inverse
	// proportion (1).
	slope float64
	// pivot is the length, in words, at which nothing is added or taken off. It is a
	// constant and no average of the documents, so that the score of one document
	// does not depend on which others there are.
	pivot float64
}

var fieldWeights = [fields]fieldWeight{
	Name:                  {2.5, .75, 3},
	Title:                 {1, .5, 3},
	Namespace:             {.7, .5, 2},
	Description:           {1, .4, 10},
	Tags:                  {1, .5, 3},
	ParameterNames:        {.5, .75, 4},
	ParameterDescriptions: {.5, .5, 25},
	Outputs:               {.3, .5, 10},
}

// of is the worth of one word in a field of n words.
func (w fieldWeight) of(n int) float32 {
	return float32(w.weight / (1 - w.slope + w.slope*float64(n)/w.pivot))
}

const (
	// saturation is the k1 of BM25: the worth at which a word counts half.
	saturation = 1.8
	// rarity bends the inverse document frequency, which at its full value lets one
	// rare word outweigh several that fit.
	rarity = .85
	// numberWeight lowers the weight of numbers: in a request they are values to
	// pass on, not what the tool is for.
	numberWeight = .5
	// deprecatedWeight lowers the score of a deprecated tool.
	deprecatedWeight = .7

	// A related word counts this much of the word itself ...
	synonymWeight = .4
	topicWeight   = .5
	topicMate     = .5 // of topicWeight, for two words of a topic
	typoWeight    = .3
	prefixWeight  = .3
	// ... if no document has the word itself, and half of that if so many have it:
	// the more the catalog speaks of a thing, the less do we need to guess.
	relatedHalf = 6
	// relatedFloor is the least that is worth looking up.
	relatedFloor = .03

	// A word that more than one in commonness documents has makes none match if enough
	// match by rarer words: it only adds to those.
	commonness = 20
	enough     = 2 * poolSize

	// clauseWeight is the say that the sentence which a document fits best has
	// beside the query as a whole.
	clauseWeight = .6
	// clauseTrust lowers the say of sentences that nothing fits well.
	clauseTrust = .3

	// leadPlace is where the best document of a clause stands at least, 0 being first.
	leadPlace = 3

	// poolSize is how many of the best documents are put in order with regard to
	// each other, and varied how many of them at most.
	poolSize = 30
	varied   = 10
	// repeatCost is what a word of the query loses of its weight once a document
	// that has it stands higher.
	repeatCost = .3
	// namesakeCost is what a tool loses if one of the same name stands higher.
	namesakeCost = .2
)

// worth is the weight of a word that df of n documents have.
func worth(df, n int) float32 {
	idf := math.Log(1 + (float64(n-df)+.5)/(float64(df)+.5))
	return float32(math.Pow(idf, rarity))
}
