package search

// Document is what is searched of one tool. The text of each field counts up to
// [MaxField] bytes.
type Document struct {
	// ID names the tool in hits. Of several documents with one ID the first counts.
	ID string
	// Namespace is the group of tools that it belongs to; may be empty.
	Namespace string
	// Name is what the tool is called within its namespace. Empty: the ID.
	Name string
	// Title is a name for people; may be empty.
	Title       string
	Description string
	Tags        []string
	Parameters  []Parameter
	// Outputs are the names of the fields of its output.
	Outputs []string
	// Operation is what [Query.Operation] selects by, such as read or write.
	Operation string
	// Deprecated puts the tool behind others that fit as well, unless its exact
	// name was given.
	Deprecated bool
}

// Parameter is a parameter of a tool.
type Parameter struct {
	Name        string
	Description string
	// Values are those that it may have, if they are words: an enumeration.
	Values []string
}

// MaxField bounds the text of one field of a document that is searched, in bytes.
const MaxField = 16 << 10

// Field is a part of a document in which a word was found.
type Field uint8

// The fields.
const (
	Name Field = iota
	Title
	Namespace
	Description
	Tags
	ParameterNames
	ParameterDescriptions // and values
	Outputs
	fields // how many there are
)

var fieldNames = [fields]string{
	"name", "title", "namespace", "description", "tags", "parameters", "parameter descriptions", "outputs",
}

// String is the field's name for people and models.
func (f Field) String() string {
	if f < fields {
		return fieldNames[f]
	}
	return "unknown field"
}
