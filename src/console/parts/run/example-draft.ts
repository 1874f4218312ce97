/** An example as a form edits it, and back. */

export interface ExampleDraft {
  readonly input: string;
  /** True: the input is no text but JSON: a conversation, or named inputs. */
  readonly isInputJson: boolean;
  readonly expect: string;
  /** Apart by commas. */
  readonly tags: string;
  readonly isReviewed: boolean;
}

interface ExampleLike {
  readonly input?: unknown;
  readonly expect?: unknown;
  readonly tags?: readonly string[];
  readonly review?: unknown;
}

const tagsMax = 100;

export function draftOf({ input, expect, tags = [] }: ExampleLike): ExampleDraft {
  const isInputJson = typeof input !== 'string';
  return {
    input: isInputJson ? written(input ?? null) : input,
    isInputJson,
    expect: written(expect ?? {}),
    tags: tags.join(', '),
    isReviewed: false,
  };
}

/** The edited example, or what is wrong with the texts. */
export function exampleOf<Example extends ExampleLike>(
  example: Example,
  { input, isInputJson, expect, tags, isReviewed }: ExampleDraft,
): { readonly example: Example } | { readonly fault: string } {
  const parsedInput = isInputJson ? parsed(input) : { value: input };
  if (parsedInput === undefined) return { fault: 'The input is no JSON.' };
  const expected = parsed(expect.trim() === '' ? '{}' : expect);
  if (expected === undefined) return { fault: 'What is expected is no JSON.' };
  if (typeof expected.value !== 'object' || expected.value === null || Array.isArray(expected.value))
    return { fault: 'What is expected is no JSON object.' };
  const given = tags
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
    .slice(0, tagsMax);
  const { tags: _before, ...rest } = example;
  return {
    example: {
      ...rest,
      input: parsedInput.value,
      expect: expected.value,
      ...(given.length === 0 ? {} : { tags: given }),
      review: isReviewed ? 'reviewed' : 'draft',
    } as unknown as Example,
  };
}

function written(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

function parsed(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
