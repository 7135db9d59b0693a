% dev.exchangeMany, all exchanges in one call, DEPTH of them outstanding. octave_case.m has the form.

addpath(fileparts(mfilename('fullpath')));
[given, report] = octave_case('octave dev.exchangeMany');
dev = wiregauge.open(given.address);
requests = zeros(max(0, given.out - 18), given.count, 'uint8');
bytes = max(0, given.in - 34);
dev.exchange(requests(:, 1), bytes);
begun = tic;
[replies, timing] = dev.exchangeMany(requests, bytes, given.depth);
seconds = toc(begun);
assert(size(replies), [bytes, given.count]);
dev.close();
report(seconds, double(timing.rtt_ns));
