/** Reads what a broker refused of a request. It takes or refuses each partition by itself, and the client fails the request when it refuses one. */

export interface Refusals {
  /** The last attempt got no answer, so partitions that are not in `taken` are refused as well. */
  readonly isUnanswered: boolean;
  /** Partitions that have their records, in one of the attempts. */
  readonly taken: ReadonlySet<number>;
  readonly refused: ReadonlyMap<number, 'too_large' | 'failed'>;
}

/** MESSAGE_TOO_LARGE and RECORD_LIST_TOO_LARGE in the protocol. */
const tooLarge: ReadonlySet<number> = new Set([10, 18]);
const depthMax = 8;

interface PartitionAnswer {
  readonly index: number;
  readonly errorCode: number;
}

/** The client nests what befell each attempt, in order. */
export function refusalsIn(error: unknown): Refusals {
  const attempts = attemptsOf(error);
  const answers = attempts.flatMap((one) => one ?? []);
  const taken = new Set(answers.flatMap(({ index, errorCode }) => (errorCode === 0 ? [index] : [])));
  const refused = answers
    .filter(({ index }) => !taken.has(index))
    .map(({ index, errorCode }) => [index, tooLarge.has(errorCode) ? 'too_large' : 'failed'] as const);
  return { isUnanswered: attempts.at(-1) === undefined, taken, refused: new Map(refused) };
}

/** `undefined` for an attempt without an answer. */
function attemptsOf(error: unknown, depth = 0): readonly (readonly PartitionAnswer[] | undefined)[] {
  const answer = answerIn(error);
  if (answer !== undefined || !(error instanceof AggregateError) || depth > depthMax) return [answer];
  return (error.errors as readonly unknown[]).flatMap((one) => attemptsOf(one, depth + 1));
}

function answerIn(error: unknown): readonly PartitionAnswer[] | undefined {
  const topics: unknown = property(property(error, 'response'), 'responses');
  if (!Array.isArray(topics)) return undefined;
  return topics.flatMap((topic) => {
    const partitions: unknown = property(topic, 'partitionResponses');
    return Array.isArray(partitions) ? (partitions as readonly PartitionAnswer[]) : [];
  });
}

function property(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? Reflect.get(of, name) : undefined;
}
