function result = check_control_loop(address)
%CHECK_CONTROL_LOOP  Check whether a link is fast enough for a control loop with a period of 5 ms.
%   result = check_control_loop('tcp://127.0.0.1:7700') needs a responder: wiregauge serve tcp://127.0.0.1:7700

run = wiregauge.exchange(address, 'In', 48, 'Depth', [1 2], 'Interval', 5e-3, 'Duration', 1);
deadlines = wiregauge.deadline(run, 'Deadline', 4e-3);
for point = deadlines.points'
    fprintf('depth %d: %d of %d cycles missed, at most %.3g %%\n', point.point.depth, point.missed, point.cycles, 100 * point.share.high);
end
result = wiregauge.control(run, {1000, [1 1 0]}, [], 'PID', [0.96 0 0.049]);
cost = arrayfun(@(point) point.assessment.on_trace.cost, result.points)';
fprintf('cost at depth 1 and 2: %s\n', mat2str(cost, 4));
end
