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
    ...claimTables(all, (own) => own.some(({ isEqual }) => !isEqual)),
    '',
    firstContact,
    '',
    ...firstContactTable(),
    '',
  ].join('\n');
}

const confidence = `# Any instrumentation

<!-- Written by npm run docs from the recordings. -->

Spans of an SDK that no [collector](dialects.md) names are read by evidence. The collectors of conventions read known attributes, and the collector
[generic](dialects.md#generic) finds kinds, names, messages, arguments and results under any prefix. It also fills gaps that the collector of an SDK leaves.

## Confidence of a value

\`evidence\` of a run marks the values that were read by evidence, in [the API](api.md) and \`tracejury inspect\`. It is null where collectors read everything.
It covers the spans that were there when the run closed. Scores do not depend on it.

\`\`\`json
{ "provenance": "generic", "confidence": 0.98, "fields": { "input": { "class": "shape", "confidence": 0.98 } } }
\`\`\`

The fields are \`agent\`, \`input\`, \`final_response\`, \`tool_calls\` and \`model_calls\`. A field has the confidence of its least sure call, a run that of its least sure field.

- \`kind_and_key\`: a known word names the kind of span, and a key of several words the kind of value: \`acme.span.kind\`, \`acme.tool.name\`.
- \`key\`: only such a key.
- \`ending\`: a single word at the end of a key: \`acme.input\`.
- \`shape\`: the form of the value: a flattened list, messages in an event, a member of a dump.
- \`guess\`: the name of the span.

The confidence is the share of right values [below](#accuracy), rounded down. The rules were written with these recordings at hand. An unknown SDK is read worse: see [first contact](#first-contact).`;

const opening = `## Accuracy

Every recording of a real SDK is played without the collectors of SDKs, and the runs are compared with what the agent did. \`npm run check -- leave-one-out\`
prints the tables with every instrumentation, and with \`wrong\` each wrong claim.

- *claimed*: a value is given. Each item of a list counts.
- *wrong*: the agent did something else. An evaluator may judge an agent by it.
- *not claimed*: the agent did it, and no value is given, or the spans do not carry it. Evaluators that need it are skipped.
- *callers*: whose call it is, where a run has sub-agents.
- *equal*: recordings whose fields match what the agent did, as far as their spans carry it.
- *others*: instrumentations whose recordings are all equal.`;

const firstContact = `## First contact

This table estimates how an unknown SDK is read. It holds what all collectors read of new recordings before one line changed for them. *afterwards* counts the same
recordings once the readers had changed.

\`npm run check -- first-contact DIR\` measures recordings of your own, in the folders \`DIR/<instrumentation>/<scenario>/\`.`;
