/** A conversation as entries in order, with the result of each tool call beside the call. */

export interface Message {
  readonly role: string;
  readonly text: string | null;
  readonly reasoning: string | null;
  readonly calls: readonly MessageCall[];
  readonly results: readonly MessageResult[];
  readonly of_answer: boolean;
  readonly span_id: string;
  readonly at: string;
  readonly model: string | null;
  readonly cut: boolean;
}

export interface MessageCall {
  readonly id: string | null;
  readonly name: string;
  readonly arguments?: unknown;
}

export interface MessageResult {
  readonly id: string | null;
  readonly name: string | null;
  readonly result?: unknown;
  readonly is_error: boolean | null;
}

export interface RunCall {
  readonly name: string;
  readonly id: string | null;
  readonly arguments?: unknown;
  readonly result_carried: boolean;
  readonly result?: unknown;
  readonly error: { readonly message: string; readonly type: string | null } | null;
  readonly executed: boolean;
  readonly outcome: string;
  readonly span_id: string | null;
}

export type Entry =
  | {
      readonly kind: 'message';
      readonly role: string;
      readonly text: string | null;
      readonly reasoning: string | null;
      /** Span of the model call; `undefined` when the spans show none. */
      readonly spanId: string | undefined;
      readonly at: string | undefined;
      readonly isCut: boolean;
    }
  | {
      readonly kind: 'call';
      readonly name: string;
      readonly id: string | null;
      readonly sent: unknown;
      /** `undefined`: no result is known. */
      readonly result: { readonly value: unknown; readonly isError: boolean } | undefined;
      /** Position in the tool calls of the run; `undefined` when it is not among them. */
      readonly index: number | undefined;
      readonly spanId: string | undefined;
      readonly isCut: boolean;
    }
  | { readonly kind: 'result'; readonly name: string | null; readonly value: unknown; readonly isError: boolean; readonly isCut: boolean };

/** `calls`: those of the run, which know more of a call than the messages do. */
export function conversationEntries(messages: readonly Message[], calls: readonly RunCall[]): readonly Entry[] {
  const results = resultsOf(messages);
  const places = callPlaces(calls);
  const entries: Entry[] = [];
  for (const message of messages) {
    const { role, text, reasoning, span_id: spanId, at, cut: isCut } = message;
    if (hasText(text) || hasText(reasoning))
      entries.push({
        kind: 'message',
        role,
        text: hasText(text) ? text : null,
        reasoning: hasText(reasoning) ? reasoning : null,
        spanId,
        at,
        isCut,
      });
    for (const call of message.calls) {
      const index = places.take(call);
      const known = index === undefined ? undefined : calls[index];
      const reported = results.take(call);
      entries.push({
        kind: 'call',
        name: call.name,
        id: call.id,
        sent: known?.arguments ?? call.arguments ?? null,
        result:
          resultOf(known) ?? (reported === undefined ? undefined : { value: reported.result ?? null, isError: reported.is_error === true }),
        index,
        spanId: known?.span_id ?? undefined,
        isCut,
      });
    }
    for (const result of message.results)
      if (!results.isTaken(result))
        entries.push({ kind: 'result', name: result.name, value: result.result ?? null, isError: result.is_error === true, isCut });
  }
  return entries;
}

/** The conversation of a run whose spans show no messages: its input, its calls, its answer. */
export function entriesOfRun({
  input,
  tool_calls: calls = [],
  final_response: answer,
}: {
  readonly input?: string | null;
  readonly tool_calls?: readonly RunCall[] | null;
  readonly final_response?: unknown;
}): readonly Entry[] {
  const message = (role: string, text: string): Entry => ({
    kind: 'message',
    role,
    text,
    reasoning: null,
    spanId: undefined,
    at: undefined,
    isCut: false,
  });
  return [
    ...(hasText(input) ? [message('user', input)] : []),
    ...(calls ?? []).map((call, index): Entry => ({
      kind: 'call',
      name: call.name,
      id: call.id,
      sent: call.arguments ?? null,
      result: resultOf(call),
      index,
      spanId: call.span_id ?? undefined,
      isCut: false,
    })),
    ...(answer === null || answer === undefined || answer === '' ? [] : [message('assistant', plainText(answer))]),
  ];
}

export function plainText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, undefined, 2) ?? '');
}

function resultOf(call: RunCall | undefined): { readonly value: unknown; readonly isError: boolean } | undefined {
  if (call === undefined) return undefined;
  if (call.error !== null) return { value: call.result_carried ? (call.result ?? call.error.message) : call.error.message, isError: true };
  return call.result_carried ? { value: call.result ?? null, isError: call.outcome === 'failed' } : undefined;
}

interface Taking<Key> {
  take(call: MessageCall): Key | undefined;
}

/** Results by the id of their call; without ids, in the order of the calls of the same name. */
function resultsOf(messages: readonly Message[]): Taking<MessageResult> & { isTaken(result: MessageResult): boolean } {
  const byId = new Map<string, MessageResult[]>();
  const byName = new Map<string, MessageResult[]>();
  const called = new Set(messages.flatMap(({ calls }) => calls.map(({ id }) => id)));
  for (const result of messages.flatMap(({ results }) => results)) {
    if (result.id !== null && called.has(result.id)) push(byId, result.id, result);
    else push(byName, result.name ?? '', result);
  }
  const taken = new Set<MessageResult>();
  return {
    take({ id, name }) {
      const found =
        (id === null ? undefined : byId.get(id)?.shift()) ??
        (id !== null && byId.has(id) ? undefined : (byName.get(name)?.shift() ?? byName.get('')?.shift()));
      if (found !== undefined) taken.add(found);
      return found;
    },
    isTaken: (result) => taken.has(result),
  };
}

/** Places of the run's calls, each taken once: by id, else the next one of the name with the same arguments, else of the name. */
function callPlaces(calls: readonly RunCall[]): Taking<number> {
  const byId = new Map<string, number[]>();
  const byName = new Map<string, number[]>();
  for (const [at, { id, name }] of calls.entries()) {
    if (id !== null) push(byId, id, at);
    push(byName, name, at);
  }
  const taken = new Set<number>();
  return {
    take({ id, name, arguments: sent }) {
      const free = (places: readonly number[] = []): readonly number[] => places.filter((at) => !taken.has(at));
      const own = id === null ? undefined : free(byId.get(id))[0];
      const named = own === undefined ? free(byName.get(name)) : [];
      const written = JSON.stringify(sent ?? null);
      const found = own ?? named.find((at) => JSON.stringify(calls[at]?.arguments ?? null) === written) ?? named[0];
      if (found !== undefined) taken.add(found);
      return found;
    },
  };
}

function push<Key, Value>(lists: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

function hasText(text: string | null | undefined): text is string {
  return typeof text === 'string' && text.trim() !== '';
}
