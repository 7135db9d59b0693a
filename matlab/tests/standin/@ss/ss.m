function system = ss(a, b, c, d)
%SS  As far as wiregauge.control needs it: the state space of a control toolbox, in continuous time.

system = class(struct('matrices', {{a, b, c, d}}), 'ss');
end
