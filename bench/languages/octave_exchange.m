% dev.exchange, one call for each exchange. octave_case.m has the form; OUT and IN are whole frames here as well (18 and 34 B of them not payload).

addpath(fileparts(mfilename('fullpath')));
[given, report] = octave_case('octave dev.exchange');
dev = wiregauge.open(given.address);
request = zeros(max(0, given.out - 18), 1, 'uint8');
bytes = max(0, given.in - 34);
rtt = zeros(1, given.count);
dev.exchange(request, bytes);
begun = tic;
for k = 1:given.count
    start = tic;
    answer = dev.exchange(request, bytes);
    rtt(k) = toc(start);
end
seconds = toc(begun);
assert(numel(answer), bytes);
dev.close();
report(seconds, rtt * 1e9);
