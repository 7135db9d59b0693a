function replies = find_setting(address)
%FIND_SETTING  Find the depth with the shortest TRT, confirm it, and use it.
%   replies = find_setting('tcp://127.0.0.1:7700') needs a responder: wiregauge serve tcp://127.0.0.1:7700

found = wiregauge.tune(address, 'Minimise', 'trt', 'In', 100, 'Out', 100, 'Depth', '1..8', 'Count', 200, 'SubjectTo', 'p99<1s');
if ~isempty(found.missed)
    fprintf('missed or undecided: %s\n', found.missed{:});
end
fprintf('depth %d: TRT %.1f us\n', found.best.depth, found.best.objective.value / 1e3);
device = wiregauge.open(address);
tidy = onCleanup(@() device.close());
replies = device.exchangeMany(zeros(100, 50, 'uint8'), 100, found.best.depth);
end
