package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of a [Descriptor].
const (
	// maxDescription bounds what is said of a tool, in bytes.
	maxDescription = 64 << 10
	// MaxExamples bounds the examples of a tool.
	MaxExamples = 8
	// maxExample bounds the input of an example, and its description, in bytes.
	maxExample = 4 << 10
)

// checkTool says why a tool that a source lists cannot be used. Its schemas are
// looked at on first use.
func checkTool(t Tool) error {
	if err := CheckID(t.ID); err != nil {
		return err
	}
	if err := t.checkKind(); err != nil {
		return fmt.Errorf("tool %s: %w", t.ID, err)
	}
	if err := errors.Join(
		checkLabels("capability", t.Capabilities), checkLabels("tag", t.Tags), checkSecrets(t.Secrets),
	); err != nil {
		return fmt.Errorf("tool %s: %w", t.ID, err)
	}
	if err := checkResourceKey(t.ResourceKey); err != nil {
		return fmt.Errorf("tool %s: %w", t.ID, err)
	}
	if err := checkExamples(t.Examples); err != nil {
		return fmt.Errorf("tool %s: %w", t.ID, err)
	}
	return nil
}

func (t Tool) checkKind() error {
	switch {
	case t.Operation != Read && t.Operation != Write:
		return fmt.Errorf("operation is %s, want %q or %q", quote(string(t.Operation)), Read, Write)
	case t.Approval != ApprovalDefault && t.Approval != ApprovalAlways && t.Approval != ApprovalNever:
		return fmt.Errorf("approval is %s, want %q, %q or nothing", quote(string(t.Approval)), ApprovalAlways, ApprovalNever)
	case t.Trust != TrustAuthor && t.Trust != TrustRemote:
		return fmt.Errorf("trust is %s, want %q or nothing", quote(string(t.Trust)), TrustRemote)
	case t.Operation == Read && (t.Destructive || t.Independent || t.HonoursKeys):
		return errors.New("it is a read, and only a write is destructive or independent, or has a target that honours keys")
	case t.Operation == Read && t.Undo != nil:
		return errors.New("it is a read, and only a write can be undone")
	case t.Approvers < 0 || t.Approvers > MaxApprovers:
		return fmt.Errorf("approvers are %d, want 0 to %d", t.Approvers, MaxApprovers)
	case t.Timeout < 0:
		return fmt.Errorf("timeout is %s, want 0 or more", t.Timeout)
	case len(t.Title)+len(t.Description) > maxDescription:
		return fmt.Errorf("title and description are %d bytes long, at most %d are allowed", len(t.Title)+len(t.Description), maxDescription)
	case !utf8.ValidString(t.Title) || !utf8.ValidString(t.Description):
		return errors.New("its title or description is not valid UTF-8")
	case len(t.Input) == 0 && t.Schemas == nil:
		return errors.New("has no input schema")
	case t.Call == nil:
		return errors.New("has no function to call")
	}
	return nil
}

func checkExamples(examples []Example) error {
	if len(examples) > MaxExamples {
		return fmt.Errorf("has %d examples, at most %d are allowed", len(examples), MaxExamples)
	}
	for i, e := range examples {
		switch {
		case len(e.Input) > maxExample || len(e.Description) > maxExample:
			return fmt.Errorf("example number %d is too long, at most %d bytes are allowed", i+1, maxExample)
		case !utf8.ValidString(e.Description):
			return fmt.Errorf("the description of example number %d is not valid UTF-8", i+1)
		case !json.Valid(e.Input) || !strings.HasPrefix(strings.TrimSpace(string(e.Input)), "{"):
			return fmt.Errorf("the input of example number %d is no JSON object", i+1)
		}
	}
	return nil
}
