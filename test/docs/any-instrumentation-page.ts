/** `docs/reference/any-instrumentation.md`: what is read by evidence, measured over all recordings without the collectors of SDKs. */
import { ownRecordings } from '../recordings/read.ts';
import { firstContactTable } from '../recordings/first-contact-table.ts';
import { claimTables, confidenceTable, measured } from '../recordings/left-out.ts';

export function anyInstrumentationPage(): string {
  const all = measured(ownRecordings());
  return [
    confidence,
    '',
    ...confidenceTable(all),
    '',
    opening,
    '',
    ...claimTables(all),
    '',
    firstContact,
    '',
    ...firstContactTable(),
    '',
  ].join('\n');
}

const confidence = `# Any instrumentation

<!-- Written by npm run docs from the recordings. -->

Spans of an SDK that no [collector](dialects.md) names are read by evidence. The collectors of general conventions read what they know, and the collector
[generic](dialects.md#generic) adds what kinds, names, messages, arguments and results say under any prefix. It also fills what the collector of an SDK leaves open.

## How sure a value is

A run names what it has by evidence: \`evidence\` in [the API](api.md), in \`tracejury inspect --format json\`, and *by evidence* in its text. It is null where
collectors of SDKs or conventions told all. Scores do not depend on it. It is of the spans that were there when the run closed: a late span that says the
same more surely changes nothing.

\`\`\`json
{ "provenance": "generic", "confidence": 0.98, "fields": { "input": { "class": "shape", "confidence": 0.98 } } }
\`\`\`

The fields are \`agent\`, \`input\`, \`final_response\`, \`tool_calls\` and \`model_calls\`. Of calls the least sure counts, and of a run the least sure field.

- \`kind_and_key\`: a known word says what the span is, and a key of several words what the value is: \`acme.span.kind\`, \`acme.tool.name\`.
- \`key\`: such a key alone.
- \`ending\`: a single word at the end of a key: \`acme.input\`.
- \`shape\`: the form of the value: a flattened list, messages in an event, a member of a dump.
- \`guess\`: the name of the span.

The confidence is the share of values that are right, measured as below and rounded down. The rules were written with these recordings at hand, so an SDK
that none of them shows is read worse: see [first contact](#first-contact).`;

const opening = `## How far it goes

The tables measure how far that goes. Every recording of a real SDK is played without the collectors of SDKs, and the runs are compared with what the
agent really did. \`npm run check -- leave-one-out\` prints them, and with \`wrong\` each wrong claim.

- *claimed*: a value is told. Of lists each item counts.
- *wrong*: the told value is not what the agent did. An evaluator may judge an agent by it.
- *not claimed*: the agent did it, and no value is told, or the spans do not carry it. Evaluators that need it are skipped.
- *callers*: whose call it is, where a run has sub-agents.
- *equal*: recordings of which every field is as the agent did it.
- *wrong in*: the fields of the wrong claims.
`;

const firstContact = `## First contact

The recordings above were at hand when the readers were written. This table holds what was read of new recordings on the day they were made, before one line
changed for them. It is the estimate for an SDK that nobody has seen. All collectors read each scenario, and the result is compared with what the agent really did.
*right*, *wrong* and *missing* count values as above. The column *afterwards* counts the same recordings once the readers had changed for them. \`npm run test:recordings -- NAME\` prints where an instrumentation differs today.

\`npm run check -- first-contact DIR\` measures recordings of your own, in the folders \`DIR/<instrumentation>/<scenario>/\`, and \`--json\` prints their rows for this table.`;
