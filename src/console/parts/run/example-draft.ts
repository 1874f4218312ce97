/** An example of a run as a form edits it, and back. */

export interface ExampleDraft {
  readonly input: string;
  /** True when the input is JSON instead of text: a conversation, or named inputs. */
  readonly isInputJson: boolean;
  readonly expect: string;
  readonly isReviewed: boolean;
}

interface ExampleLike {
  readonly input?: unknown;
  readonly expect?: unknown;
}

export function draftOf({ input, expect }: ExampleLike): ExampleDraft {
  const isInputJson = typeof input !== 'string';
  return {
    input: isInputJson ? written(input ?? null) : input,
    isInputJson,
    expect: written(expect ?? {}),
    isReviewed: false,
  };
}

/** Faults in the texts of a draft, by field. */
export interface DraftFaults {
  readonly input?: string;
  readonly expect?: string;
}

/** The edited example, or what is wrong with its texts. */
export function exampleOf<Example extends ExampleLike>(
  example: Example,
  { input, isInputJson, expect, isReviewed }: ExampleDraft,
): { readonly example: Example } | { readonly faults: DraftFaults } {
  const parsedInput = isInputJson ? parsed(input) : { value: input };
  const expected = parsed(expect.trim() === '' ? '{}' : expect);
  const faults: DraftFaults = {
    ...(parsedInput === undefined ? { input: 'The input is not JSON.' } : {}),
    ...(expected === undefined
      ? { expect: 'The expected value is not JSON.' }
      : typeof expected.value !== 'object' || expected.value === null || Array.isArray(expected.value)
        ? { expect: 'The expected value is not a JSON object.' }
        : {}),
  };
  if (Object.keys(faults).length > 0) return { faults };
  return {
    example: {
      ...example,
      input: parsedInput?.value,
      expect: expected?.value,
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
