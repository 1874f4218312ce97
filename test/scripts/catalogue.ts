/** The programs behind `npm run check -- NAME` and `npm run bench -- NAME`. Arguments after NAME are passed on. */

export interface Script {
  readonly about: string;
  /** Words, separated by spaces. */
  readonly command: string;
}

export interface Catalogue {
  readonly scripts: { readonly [name: string]: Script };
  /** Runs without a name. */
  readonly usual?: string;
}

export const catalogues = {
  check: {
    scripts: {
      gate: { about: 'the suites of `.ci/run`, side by side', command: 'node test/gate/run.ts' },
      nightly: { about: 'what takes hours: mutants, a million damaged bodies, a soak', command: 'node test/gate/run.ts nightly' },
      prose: { about: 'phrases in comments, messages and pages that a native speaker would not write', command: 'node test/tidy/run.ts' },
      static: { about: 'types of the tests too, lint with types, unused code', command: 'node test/run.ts --project static' },
      long: { about: 'the tests that take long, side by side', command: 'node test/run.ts --project long' },
      alone: { about: 'the tests that measure or load the machine, one file at a time', command: 'node test/run.ts --project alone' },
      'first-minute': { about: 'the service started as the README does, and a run scored', command: 'node test/first-minute.ts' },
      package: { about: 'the package as its users get it: packed, installed, started', command: 'node test/package/run.ts' },
      sbom: {
        about: 'the packages of the product, written to `sbom.cdx.json` and compared with the lock file',
        command: 'node test/sbom/run.ts',
      },
      console: { about: 'every page of the console in Chromium over a real service', command: 'node test/console/browser/run.ts' },
      pytest: { about: 'the example for pytest with agents of three Python SDKs', command: 'node test/pytest/run.ts' },
      loop: { about: 'from failed runs over examples and experiments to a gate, and back', command: 'node test/loop/run.ts' },
      alerts: { about: 'the alert rules in the tool of Prometheus', command: 'node test/alerts/run.ts' },
      dashboard: { about: 'every query of the Grafana dashboard in a real Prometheus', command: 'node test/dashboard/run.ts' },
      collector: { about: 'the guide to the Collector with a real one', command: 'node test/collector/run.ts' },
      'quality-sampling': { about: 'the guide to quality sampling with a real Collector', command: 'node test/quality-sampling/run.ts' },
      phoenix: { about: 'the guide to Phoenix with a real one', command: 'node test/backends/phoenix/run.ts' },
      mlflow: { about: 'the guide to MLflow with a real one', command: 'node test/backends/mlflow/run.ts' },
      hostile: { about: 'hostile input to a whole service, and the result of each case', command: 'node test/hostile/run.ts' },
      faults: { about: 'losses when the service, its disk or its backend is killed under load', command: 'node test/faults/run.ts' },
      replicas: {
        about: 'losses when replicas, their broker or their database fail under load',
        command: 'node test/faults/many/run.ts',
      },
      backend: {
        about: 'a backend that is dead for ten minutes, and a service that is killed meanwhile',
        command: 'node test/bench/exports/run.ts',
      },
      budget: { about: 'a budget under ten thousand runs and two kills', command: 'node test/bench/judges/run.ts budget' },
      mutants: { about: 'changes of the code that no test notices', command: 'node test/mutants/run.ts' },
      'leave-one-out': {
        about: 'what is read by evidence when the collectors of SDKs are left out',
        command: 'node test/recordings/leave-one-out.ts',
      },
      'first-contact': {
        about: 'recordings of SDKs that no reader has seen',
        command: 'node test/recordings/first-contact.ts',
      },
      statistics: { about: 'how often intervals hold the truth', command: 'node test/statistics/run.ts' },
      processes: { about: 'what evaluators of the normal process find', command: 'node test/statistics/process/run.ts' },
      pictures: { about: 'writes the pictures of the console for the guides', command: 'node test/console/browser/pictures/run.ts' },
      prices: { about: 'writes the list prices of a day', command: 'node test/prices/run.ts' },
      'record-agents': { about: 'records real agents against a scripted model', command: 'python3 test/recordings/rig/record.py' },
    },
  },
  bench: {
    usual: 'service',
    scripts: {
      service: { about: 'CPU time of the service for each span; runs without a name', command: 'node test/bench/run.ts' },
      profile: { about: 'CPU time of the service by parts of its code and by threads', command: 'node test/bench/profile/run.ts' },
      evaluators: { about: 'CPU time of one evaluation, for every evaluator', command: 'node test/bench/evaluators/run.ts' },
      content: { about: 'the cost of keeping content and spans of runs', command: 'node test/bench/content/run.ts' },
      store: { about: 'CPU time and bytes of only the store', command: 'node test/bench/store.ts' },
      issues: { about: 'grouping of two million failed verdicts, and the answers about issues', command: 'node test/bench/issues.ts' },
      journal: { about: 'CPU time and bytes a second of the journal', command: 'node test/bench/journal.ts' },
      overload: { about: 'the service under ten times what it can bear', command: 'node test/bench/overload/run.ts overload' },
      soak: { about: 'growth of memory and descriptors at half the rate', command: 'node test/bench/overload/run.ts soak' },
      latency: { about: 'the time of an answer at half the rate', command: 'node test/bench/overload/run.ts latency' },
      'open-traces': { about: 'time and memory of a span among many open traces', command: 'node test/bench/overload/run.ts open-traces' },
      idle: {
        about: 'CPU time of the service at rest, a burst, and the time from the last span to the score',
        command: 'node test/bench/idle.ts',
      },
      eval: { about: 'CPU time of eval over recorded runs, beside agentevals', command: 'node test/bench/offline-eval/run.ts' },
      steady: { about: 'CPU time of a span when spans come at a steady rate', command: 'node test/bench/steady.ts' },
      replicas: {
        about: 'one process, one replica and two replicas by turns: throughput and delay',
        command: 'node test/bench/replicas.ts',
      },
      forward: { about: 'the cost of standing between agents and a Collector', command: 'node test/bench/forward/run.ts' },
      experiments: { about: 'the time of an experiment beside the agent', command: 'node test/bench/experiments/run.ts' },
      start: { about: 'CPU time of a start: help, one run, a service that is ready', command: 'node test/bench/start.ts' },
      judges: { about: 'the time of judges when one of them is slow or dead', command: 'node test/bench/judges/run.ts latency' },
      replay: { about: 'a replay beside a service on the same file', command: 'node test/bench/replay/run.ts' },
      retention: { about: 'how long writers wait while old runs of a database are deleted', command: 'node test/bench/retention.ts' },
      console: { about: 'the requests and the pages of the console over a store of many runs', command: 'node test/bench/console/run.ts' },
      scale: { about: 'growth of CPU time and memory with the size of a trace', command: 'node test/bench/scale/run.ts' },
    },
  },
} as const satisfies { readonly [script: string]: Catalogue };
