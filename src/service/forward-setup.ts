/** The entry `forward` of the configuration at work, between the pipeline and the journal. */
import type { Config } from '../config/config.ts';
import { forwarding, type Forwarding, type ForwardingOptions, type ForwardSettings } from '../exporters/forward/forwarder.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';

/** Of `limits.memory_bytes`: bodies that wait to go on. While their runs are open the pipeline holds the same bytes. */
const bodiesShare = 1 / 8;

export interface InLineOptions extends Omit<ForwardingOptions, 'settings' | 'awaits' | 'bodyBytesMax'> {
  readonly config: Config;
  /** Asked when something has come, and never before. */
  readonly flow: () => Pick<Pipeline, 'references'>;
}

export interface InLine extends Omit<Forwarding, 'exchange'> {
  exchange(config: Config): void;
}

export function inLine({ config, flow, ...parts }: InLineOptions): InLine {
  const forward = forwarding({
    ...parts,
    settings: settingsOf(config),
    awaits: (key) => flow().references.isAwaited(key),
    bodyBytesMax: config.limits.memoryBytes * bodiesShare,
  });
  return { ...forward, exchange: (next) => forward.exchange(settingsOf(next)) };
}

function settingsOf({ exporters }: Config): ForwardSettings | undefined {
  return exporters.find((entry) => entry.to === 'forward');
}
