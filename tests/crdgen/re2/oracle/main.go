// Command oracle matches patterns with Go's regexp package.
//
// It reads a JSON array of {"pattern": …, "texts": […]} and writes a JSON array of answers: {"found": […]} with the
// first match in each text (null if nothing matches), or {"error": "…"}.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
)

type question struct {
	Pattern string   `json:"pattern"`
	Texts   []string `json:"texts"`
}

type answer struct {
	Found []*string `json:"found,omitempty"`
	Error string    `json:"error,omitempty"`
}

func main() {
	var questions []question
	if err := json.NewDecoder(os.Stdin).Decode(&questions); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	answers := make([]answer, len(questions))
	for i, question := range questions {
		answers[i] = match(question)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func match(query question) answer {
	compiled, err := regexp.Compile(query.Pattern)
	if err != nil {
		return answer{Error: err.Error()}
	}
	found := make([]*string, len(query.Texts))
	for i, text := range query.Texts {
		if bounds := compiled.FindStringIndex(text); bounds != nil {
			part := text[bounds[0]:bounds[1]]
			found[i] = &part
		}
	}
	return answer{Found: found}
}
