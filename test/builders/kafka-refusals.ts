/** Errors of the client of Kafka about single partitions. */

const errorCodes = { taken: 0, too_large: 10, too_few_brokers: 19 } as const;
export type Outcome = keyof typeof errorCodes;

export type Attempt = ReadonlyMap<number, Outcome> | Error;

/** The client rejects in this way when a broker refuses some of the partitions of a request. */
export function refusalOf(...attempts: readonly Attempt[]): Error {
  const errors = attempts.map((attempt) => (attempt instanceof Error ? attempt : answerOf(attempt)));
  const [only] = errors;
  return new AggregateError([errors.length > 1 ? new AggregateError(errors) : only], 'Producing messages failed.');
}

function answerOf(outcomes: ReadonlyMap<number, Outcome>): Error {
  const partitionResponses = [...outcomes].map(([index, outcome]) => ({ index, errorCode: errorCodes[outcome] }));
  return Object.assign(new AggregateError([], 'refused'), { response: { responses: [{ name: 'spans', partitionResponses }] } });
}
