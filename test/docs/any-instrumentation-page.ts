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

Spans of an SDK that no [collector](dialects.md) names are read by evidence. The collectors of general conventions read known attributes, and the collector
[generic](dialects.md#generic) finds kinds, names, messages, arguments and results under any prefix. It also fills gaps that the collector of an SDK leaves.

## Confidence of a value

A run marks the values that were read by evidence: \`evidence\` in [the API](api.md), in \`tracejury inspect --format json\`, and *by evidence* in its text. It is null where
collectors of SDKs or conventions read everything. Scores do not depend on it. It covers the spans that were there when the run closed: a late span that confirms a
value does not change it.

\`\`\`json
{ "provenance": "generic", "confidence": 0.98, "fields": { "input": { "class": "shape", "confidence": 0.98 } } }
\`\`\`

The fields are \`agent\`, \`input\`, \`final_response\`, \`tool_calls\` and \`model_calls\`. The least sure call counts, and the least sure field of a run.

- \`kind_and_key\`: a known word names the kind of span, and a key of several words the kind of value: \`acme.span.kind\`, \`acme.tool.name\`.
- \`key\`: only such a key.
- \`ending\`: a single word at the end of a key: \`acme.input\`.
- \`shape\`: the form of the value: a flattened list, messages in an event, a member of a dump.
- \`guess\`: the name of the span.

The confidence is the share of values that are right, measured as below and rounded down. The rules were written with these recordings at hand, so an SDK
that none of them shows is read worse: see [first contact](#first-contact).`;

const opening = `## Accuracy

The tables measure this reading. Every recording of a real SDK is played without the collectors of SDKs, and the runs are compared with what the
agent really did. \`npm run check -- leave-one-out\` prints them, and with \`wrong\` each wrong claim.

- *claimed*: a value is given. Each item of a list counts.
- *wrong*: the given value is not what the agent did. An evaluator may judge an agent by it.
- *not claimed*: the agent did it, and no value is given, or the spans do not carry it. Evaluators that need it are skipped.
- *callers*: whose call it is, where a run has sub-agents.
- *equal*: recordings whose every field matches what the agent did.
- *wrong in*: the fields of the wrong claims.
`;

const firstContact = `## First contact

The recordings above were at hand when the readers were written. This table holds what was read of new recordings on the day they were made, before one line
changed for them. It is the estimate for an unknown SDK. All collectors read each scenario, and the result is compared with what the agent really did.
*right*, *wrong* and *missing* count values as above. The column *afterwards* counts the same recordings once the readers had changed for them. \`npm run test:recordings -- NAME\` prints where an instrumentation differs today.

\`npm run check -- first-contact DIR\` measures recordings of your own, in the folders \`DIR/<instrumentation>/<scenario>/\`, and \`--json\` prints their rows for this table.`;
