import type { Fault } from './fault.ts';

export const sighupStorm: Fault = {
  name: 'SIGHUP storm',
  summary: 'SIGHUP two hundred times under load.',
  scores: 'all sent',
  async suffer({ service, acknowledged }) {
    for (let storms = 0; storms < 20; storms++) {
      for (let signals = 0; signals < 10; signals++) service().signal('SIGHUP');
      await acknowledged(4);
    }
    if (!service().isRunning()) throw new Error('the service did not survive SIGHUP');
  },
};
