% dev.exchangeMany, all exchanges in one call, DEPTH of them outstanding. octave_case.m has the form.

[given, report] = octave_case('octave dev.exchangeMany');
dev = wiregauge.open(given.address);
requests = zeros(given.out - 16, given.count, 'uint8');
bytes = given.in - 32;
dev.exchange(requests(:, 1), bytes);
begun = tic;
[replies, timing] = dev.exchangeMany(requests, bytes, given.depth);
seconds = toc(begun);
assert(size(replies), [bytes, given.count]);
dev.close();
report(seconds, double(timing.rtt_ns));
