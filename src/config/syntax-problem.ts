/** What the YAML parser complains of, in our words: its own messages may quote the text, and the text may be a secret. */
import type { ErrorCode } from 'yaml';

interface SyntaxProblem {
  readonly problem: string;
  readonly todo: string;
}

const problems: { readonly [code in ErrorCode]?: SyntaxProblem } = {
  ALIAS_PROPS: { problem: 'an alias with a tag or an anchor of its own', todo: 'Write the alias alone.' },
  BAD_ALIAS: { problem: 'an alias or anchor without a name', todo: 'Write &name and *name; quote a text that begins with & or *.' },
  BAD_DIRECTIVE: { problem: 'a line that begins with % and is no YAML directive', todo: 'Quote a text that begins with %.' },
  BAD_DQ_ESCAPE: { problem: 'an escape sequence that double quotes do not know', todo: 'Write a backslash as \\\\, or use single quotes.' },
  BAD_INDENT: { problem: 'the indentation does not fit', todo: 'Indent members of one mapping or list alike; close every [ and {.' },
  BAD_PROP_ORDER: { problem: 'a tag or anchor in the wrong place', todo: 'Write tag and anchor before the value, on its line.' },
  BAD_SCALAR_START: { problem: 'a character that no plain text begins with', todo: 'Quote the text.' },
  BLOCK_AS_IMPLICIT_KEY: {
    problem: 'a second `key: value` within a value',
    todo: 'Put it on a line of its own, or quote a text that holds a colon and a blank.',
  },
  BLOCK_IN_FLOW: {
    problem: 'an indented block within [ ] or { }',
    todo: 'Write commas between the parts of [ ] and { }; quote `${env:NAME}` there.',
  },
  DUPLICATE_KEY: { problem: 'a key that stands in the same mapping already', todo: 'Keep one of the two.' },
  MISSING_CHAR: { problem: 'a bracket, quote, colon or comma is missing', todo: 'Close what was opened on this line or above.' },
  MULTILINE_IMPLICIT_KEY: {
    problem: 'a key that goes on over several lines',
    todo: 'Check the colon and the indentation of this line and the one above.',
  },
  MULTIPLE_ANCHORS: { problem: 'more than one anchor on a value', todo: 'Keep one.' },
  MULTIPLE_DOCS: { problem: 'a second document after `---`', todo: 'Keep one document a file.' },
  MULTIPLE_TAGS: { problem: 'more than one tag on a value', todo: 'Leave the tags out.' },
  NON_STRING_KEY: { problem: 'a key that is not a text', todo: 'Write keys as plain texts.' },
  TAB_AS_INDENT: { problem: 'a tab in the indentation', todo: 'Indent with blanks.' },
  TAG_RESOLVE_FAILED: { problem: 'a tag that is not known', todo: 'Leave out the tag; quote a text that begins with an exclamation mark.' },
  UNEXPECTED_TOKEN: {
    problem: 'something follows where the value has ended',
    todo: 'Quote the text; within { } and [ ] also `${env:NAME}`.',
  },
};

export function syntaxProblem(code: ErrorCode): SyntaxProblem {
  return problems[code] ?? { problem: 'this is not YAML', todo: 'Check quotes, brackets and indentation.' };
}
