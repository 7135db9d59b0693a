function run = measure_link(address)
%MEASURE_LINK  Measure a link at several sizes and depths, plot the results, and write a report page.
%   run = measure_link('tcp://127.0.0.1:7700') needs a responder: wiregauge serve tcp://127.0.0.1:7700

run = wiregauge.exchange(address, 'In', [48 500 2000], 'Depth', [1 2 4], 'Count', 500);
disp(run)
p99 = reshape([run.points.p99], 3, 3)' / 1e3; % A row for each size, a column for each depth.
fprintf('p99 in us at depth 1, 2, 4:\n');
disp(p99)
explanation = wiregauge.explain(run);
fprintf('%s\n', explanation.points(1).words);
page = wiregauge.report(run);
fprintf('page: %s\n', page);
end
