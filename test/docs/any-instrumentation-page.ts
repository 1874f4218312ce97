/** `docs/reference/any-instrumentation.md`: what is read by evidence, measured over all recordings without the collectors of SDKs. */
import { ownRecordings } from '../recordings/read.ts';
import { firstContactTable } from '../recordings/first-contact.ts';
import { leaveOneOutTables, measured } from '../recordings/left-out.ts';

export function anyInstrumentationPage(): string {
  return [opening, ...leaveOneOutTables(measured(ownRecordings())), '', firstContact, '', ...firstContactTable(), ''].join('\n');
}

const opening = `# Any instrumentation

<!-- Written by npm run docs from the recordings. -->

Spans of an SDK that no [collector](dialects.md) names are read by evidence. The collectors of general conventions read what they know, and the collector
[generic](dialects.md#generic) adds what kinds, names, messages, arguments and results say under any prefix.

The tables measure how far that goes. Every recording of a real SDK is played without the collectors of SDKs, and the runs are compared with what the
agent really did. \`npm run test:leave-one-out\` prints them, and with \`-- wrong\` each wrong claim.

- *claimed*: a value is told. Of lists each item counts.
- *wrong*: the told value is not what the agent did. An evaluator may judge an agent by it.
- *not claimed*: the agent did it, and no value is told, or the spans do not carry it. Evaluators that need it are skipped.
- *callers*: whose call it is, where a run has sub-agents.
- *equal*: recordings of which every field is as the agent did it.
`;

const firstContact = `## First contact

The recordings above were at hand when the readers were written. This table holds what was read of new recordings on the day they were made, before one line
changed for them. It is the estimate for an SDK that nobody has seen: with all collectors, by scenario, against what the agent really did.
*right*, *wrong* and *missing* count values as above. Where it differs today, \`npm run test:recordings -- NAME\` tells.`;
