% dev.exchangeMany, in five calls after a warm-up, DEPTH outstanding: what Python's rows and the CLI's
% do too. octave_case.m has the form.

addpath(fileparts(mfilename('fullpath')));
[given, report] = octave_case('octave dev.exchangeMany');
dev = wiregauge.open(given.address);
slices = 5;
count = given.count / slices;
requests = zeros(max(0, given.out - 18), count, 'uint8');
bytes = max(0, given.in - 34);
% A process as large as Octave leaves its processor's caches cold when it has started: the first tenth of a second is
% up to a tenth slower.
begun = tic;
while toc(begun) < 0.2
    dev.exchangeMany(requests, bytes, given.depth);
end
seconds = zeros(1, slices);
rtt_ns = [];
for at = 1:slices
    begun = tic;
    [replies, timing] = dev.exchangeMany(requests, bytes, given.depth);
    seconds(at) = toc(begun);
    assert(size(replies), [bytes, count]);
    rtt_ns = [rtt_ns, double(timing.rtt_ns(:))']; %#ok<AGROW> five times
end
dev.close();
report(seconds, rtt_ns);
