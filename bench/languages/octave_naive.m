% What a first script does, in Octave: write a request, read its answer, with tcpclient or serialport (as ADDRESS says).
% octave_case.m has the form.

addpath(fileparts(mfilename('fullpath')));
[given, report] = octave_case('octave naive');
connection = wiregauge.pure.connect(given.address);
wiregauge.pure.hello(connection);
requests = wiregauge.pure.encode(0:given.count, given.out, given.in)';
rtt = zeros(1, given.count);
write(connection, requests(1, :), 'uint8');
read(connection, given.in, 'uint8');
begun = tic;
for k = 1:given.count
    start = tic;
    write(connection, requests(k + 1, :), 'uint8');
    answer = read(connection, given.in, 'uint8');
    rtt(k) = toc(start);
end
seconds = toc(begun);
assert(numel(answer), given.in);
report(seconds, rtt * 1e9);
