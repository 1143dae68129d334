// Command oracle tells what Go makes of patterns.
//
// Standard input is a JSON array of {"pattern": …, "texts": […]}; standard output is a JSON array with, for each,
// {"found": […]}, what of each text the pattern matches first, null for nothing; or {"error": "…"}.
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
	for i, asked := range questions {
		answers[i] = ask(asked)
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func ask(asked question) answer {
	compiled, err := regexp.Compile(asked.Pattern)
	if err != nil {
		return answer{Error: err.Error()}
	}
	found := make([]*string, len(asked.Texts))
	for i, text := range asked.Texts {
		if place := compiled.FindStringIndex(text); place != nil {
			part := text[place[0]:place[1]]
			found[i] = &part
		}
	}
	return answer{Found: found}
}
