% The pure client, which queues R = DEPTH - 1 requests ahead. octave_case.m has the form.

addpath(fileparts(mfilename('fullpath')));
[given, report] = octave_case('octave queued ahead');
connection = wiregauge.pure.connect(given.address);
wiregauge.pure.hello(connection);
result = wiregauge.pure.measure(connection, 'In', given.in, 'Out', given.out, 'Count', given.count, 'Queue', given.depth - 1);
assert(result.wrong, 0);
report(result.elapsed_ns / 1e9, result.rtt_ns);
